// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/record/record_frame.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::as_message;
using test::entry;
using test::example;
using test::field;
using test::floats;
using test::ints;
using test::parse_error;
using test::strings;
using test::values;
using test::varint;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using enum FeatureKind;

const ExampleParser& parser() {
  static const ExampleParser parser({{.key = "x", .shape = {2}}, {.key = "n", .dtype = i64, .kind = VarLen}});
  return parser;
}
std::string whole() { return example(entry("n", ints({1, 300})) + entry("x", floats({0.5F, 1.5F}))); }

TEST(Example, GivesFieldsInTheOrderAskedFor) {
  const auto got = parser().parse(as_message(whole())).value();
  EXPECT_THAT(values<float>(got[0]), ElementsAre(0.5F, 1.5F));
  EXPECT_THAT(values<int64_t>(got[1]), ElementsAre(1, 300));
}

TEST(Example, WritesToTargetsOfAnyAlignmentAndTakesNoMemoryForIt) {
  const ExampleParser row(
      {{.key = "x", .shape = {2}}, {.key = "image", .dtype = u8, .shape = {3}}, {.key = "n", .dtype = i64}});
  const std::string message =
      example(entry("image", strings({"abc"})) + entry("n", ints({-2})) + entry("x", floats({0.5F, 1.5F})));
  std::array<std::byte, 32> memory = {};
  const std::array<std::byte*, 3> targets = {&memory[1], &memory[10], &memory[15]};
  BufferPool pool;
  const CurrentPool current(pool);
  ASSERT_TRUE(row.parse(as_message(message), targets, {}));
  EXPECT_EQ(pool.stats().allocations, 0);
  std::array<float, 2> x;
  std::memcpy(x.data(), &memory[1], 8);
  EXPECT_THAT(x, ElementsAre(0.5F, 1.5F));
  EXPECT_EQ(std::memcmp(&memory[10], "abc", 3), 0);
  int64_t n = 0;
  std::memcpy(&n, &memory[15], 8);
  EXPECT_EQ(n, -2);
  for (const size_t outside : {0, 9, 13, 14, 23}) EXPECT_EQ(memory[outside], std::byte{0}) << outside;
}

TEST(Example, RefusesTooFewPlacesAndFieldsThatHaveNowhereToGo) {
  std::array<std::byte*, 1> targets = {};
  EXPECT_THAT(parser().parse(as_message(whole()), targets, {}).error().message(),
              HasSubstr("1 targets or tensors for 2"));
  EXPECT_THAT(parser().parse(as_message(whole()), {}, {}).error().message(), HasSubstr("field 0 needs a tensor"));
}

TEST(Example, AnEmptyMessageHasNoFeatures) {
  EXPECT_EQ(parse_error(parser(), "").message(), "Example, feature 'x': 2 values of float32 expected, none found");
  EXPECT_TRUE(ExampleParser({}).parse({}));
}

TEST(Example, MergesFeaturesThatStandInSeveralPieces) {
  const auto got =
      parser()
          .parse(as_message(example(entry("n", ints({1}))) + field(7, "?") + example(entry("x", floats({1, 2})))))
          .value();
  EXPECT_EQ(got[1].size(), 1);
}

// Fault row 17.
TEST(Example, RefusesBrokenMessagesWithKeyAndOffset) {
  struct Case {
    std::string message;
    std::string_view text;
  };
  const std::string good = entry("x", floats({1, 2}));
  for (const auto& [message, text] : std::vector<Case>{
           {example(good + entry("n", field(3, field(1, "\x80")))), "feature 'n': a varint is truncated at offset 33"},
           {example(good) + "\x80", "Example: a varint is truncated at offset 21"},
           {example(good + entry("n", varint(3 << 3) + varint(1))), "feature 'n': a value with a length was expected"},
           {varint(1 << 3) + varint(1), "Example: a value with a length was expected, wire type 0 found at offset 1"},
           {example(varint(1 << 3) + varint(1)), "Example: a value with a length was expected"},
           {example(field(1, varint(1 << 3) + varint(1))), "a value with a length was expected"},
           {varint(1 << 3 | 2) + varint(UINT64_MAX) + "ab", "18446744073709551615 bytes where 2 are left at offset 11"},
           {example(varint(1 << 3 | 2) + varint(uint64_t{1} << 31)), "2147483648 bytes where 0 are left"},
           {example(good) + varint(9 << 3 | 3), "a group tag at offset 21"},
           {example(good) + varint(9 << 3 | 4), "a group tag at offset 21"},
           {example(good + entry("n", field(3, varint(1 << 3 | 3)))), "feature 'n': a group tag"},
       }) {
    const Error error = parse_error(parser(), message);
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << text;
    EXPECT_THAT(error.message(), HasSubstr(text));
  }
}

// Fault row 17.
TEST(Example, SkipsUnknownFieldsAtEveryLevel) {
  const std::string unknown = varint(8 << 3) + varint(300) + varint(9 << 3 | 1) + "12345678" + field(10, "\xff\xff") +
                              varint(11 << 3 | 5) + "1234";
  const std::string list = unknown + field(1, test::float_bytes(1) + test::float_bytes(2)) + unknown;
  const std::string feature = unknown + field(2, list) + unknown;
  const std::string one = unknown + field(1, "x") + unknown + field(2, feature) + unknown;
  const auto got = parser().parse(as_message(unknown + field(1, unknown + field(1, one) + unknown) + unknown));
  ASSERT_TRUE(got) << got.error();
  EXPECT_THAT(values<float>((*got)[0]), ElementsAre(1, 2));
}

// Fault row 18: what is nested is skipped by its length, so no depth is ever entered that the schema has not.
TEST(Example, DoesNotEnterMessagesDeeperThanItsSchema) {
  std::string nested;
  for (int depth = 0; depth < 5000; ++depth) nested = field(1, nested);
  EXPECT_EQ(parse_error(parser(), nested).kind(), ErrorKind::InvalidArgument);
  EXPECT_TRUE(parser().parse(as_message(whole() + field(5, nested))));
}

// Fault row 18.
TEST(Example, LimitsBytesAndFeatures) {
  const std::string large = example(entry("s", strings({std::string(64 << 20, 'a')})));
  const std::vector<ExampleFeature> asked = {{.key = "s", .dtype = bytes, .kind = VarLen}};
  EXPECT_EQ(ExampleParser(asked).parse(as_message(large))->front().bytes_at(0).size(), size_t{64} << 20);
  const Error error = parse_error(ExampleParser(asked, {.max_bytes = 1 << 20}), large);
  EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(error.message(), HasSubstr("the limit is 1048576"));
  const std::string one = entry("k", "");
  std::string entries;
  for (int i = 0; i < 1'000'000; ++i) entries += one;
  const std::string many = example(entries);
  EXPECT_EQ(parse_error(ExampleParser(asked), many).kind(), ErrorKind::ResourceExhausted);
  EXPECT_TRUE(ExampleParser(asked, {.max_features = 1'000'000}).parse(as_message(many)));
}

// Fault row 19.
TEST(Example, NamesKeyTypesAndCountsOfWhatDoesNotFit) {
  EXPECT_EQ(parse_error(parser(), example(entry("n", ints({1})))).message(),
            "Example, feature 'x': 2 values of float32 expected, none found");
  EXPECT_EQ(parse_error(parser(), example(entry("x", floats({1, 2, 3})))).message(),
            "Example, feature 'x': 2 values of float32 expected, 3 of float32 found, at offset 11");
  EXPECT_THAT(parse_error(parser(), example(entry("x", ints({1, 2})))).message(), HasSubstr("2 of int64 found"));
  EXPECT_THAT(parse_error(parser(), example(entry("x", strings({"a"})))).message(), HasSubstr("1 of bytes found"));
  EXPECT_EQ(parse_error(parser(), example(entry("x", ""))).kind(), ErrorKind::InvalidArgument);
}

// Fault row 20.
TEST(Example, TheLastOfTwoEqualKeysCounts) {
  const auto got = parser().parse(
      as_message(example(entry("x", ints({1})) + entry("x", floats({1, 2}))) + example(entry("x", floats({3, 4})))));
  EXPECT_THAT(values<float>(got.value()[0]), ElementsAre(3, 4));
  EXPECT_FALSE(parser().parse(as_message(example(entry("x", floats({1, 2})) + entry("x", "")))));
}

TEST(Example, GivesAValueOrAnErrorForEveryCutAndFlippedBit) {
  const std::string message = whole();
  for (size_t cut = 0; cut < message.size(); ++cut) {
    const std::vector<char> exact(message.begin(), message.begin() + static_cast<ptrdiff_t>(cut));
    EXPECT_EQ(parse_error(parser(), {exact.data(), exact.size()}).kind(), ErrorKind::InvalidArgument) << cut;
  }
  for (size_t bit = 0; bit < 8 * message.size(); ++bit) {
    std::vector<char> exact(message.begin(), message.end());
    exact[bit / 8] = static_cast<char>(exact[bit / 8] ^ 1 << bit % 8);
    const Error error = parse_error(parser(), {exact.data(), exact.size()});
    if (error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << bit;
    }
  }
}

template <class Visit>
uint64_t each_record(const std::string& path, Visit visit) {
  auto reader = inflate_if_gzip(open_file_reader(path).value()).value();
  std::vector<std::byte> bytes;
  for (std::array<std::byte, 65536> piece;;) {
    const size_t got = reader->read(piece).value();
    if (got == 0) break;
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(got));
  }
  uint64_t count = 0, offset = 0;
  for (; offset < bytes.size(); ++count) {
    const auto frame = read_frame(bytes, offset, path).value();
    visit(frame.payload);
    offset = frame.next_offset;
  }
  return count;
}

TEST(RealExamples, MnistRecordsHoldFloatsAroundZero) {
  const std::string folder = test::test_data("tfx-records");
  if (folder.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  const ExampleParser mnist({{.key = "image_floats", .shape = {28, 28, 1}}, {.key = "image_class", .dtype = i64}});
  std::vector<float> row(784);
  int64_t label = 0;
  float low = 1, high = -1;
  std::array<int, 10> labels = {};
  const std::array<std::byte*, 2> targets = {reinterpret_cast<std::byte*>(row.data()),
                                             reinterpret_cast<std::byte*>(&label)};
  const uint64_t count = each_record(folder + "/tfx/examples/mnist/data/mnist.tfrecord", [&](auto payload) {
    const auto parsed = mnist.parse(payload, targets, {});
    ASSERT_TRUE(parsed) << parsed.error();
    for (const float value : row) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    ++labels.at(static_cast<size_t>(label));
  });
  EXPECT_EQ(count, 1000U);
  EXPECT_EQ(low, -0.5F);
  EXPECT_EQ(high, 0.5F);
  for (const int of_label : labels) EXPECT_GT(of_label, 50);
}

TEST(RealExamples, EveryTaxiRecordHasAMissingValue) {
  const std::string folder = test::test_data("tfx-records");
  if (folder.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  std::vector<ExampleFeature> asked;
  for (const char* key : {"company", "payment_type"}) asked.push_back({.key = key, .dtype = bytes, .kind = VarLen});
  for (const char* key :
       {"dropoff_latitude", "dropoff_longitude", "fare", "pickup_latitude", "pickup_longitude", "trip_miles"}) {
    asked.push_back({.key = key, .kind = VarLen});
  }
  for (const char* key :
       {"dropoff_census_tract", "dropoff_community_area", "pickup_census_tract", "pickup_community_area",
        "trip_seconds", "trip_start_day", "trip_start_hour", "trip_start_month", "trip_start_timestamp"}) {
    asked.push_back({.key = key, .dtype = i64, .kind = VarLen});
  }
  const ExampleParser taxi(asked);
  std::vector<Tensor> out(asked.size());
  const std::string shards = folder + "/tfx/components/testdata/csv_example_gen/";
  const auto scan = [&](const std::string& split) {
    uint64_t count = 0;
    for (int shard = 0; shard < 12; ++shard) {
      const std::string path =
          shards + split + "/data_tfrecord-000" + (shard < 10 ? "0" : "") + std::to_string(shard) + "-of-00012.gz";
      count += each_record(path, [&](auto payload) {
        const auto parsed = taxi.parse(payload, {}, out);
        ASSERT_TRUE(parsed) << parsed.error();
        EXPECT_TRUE(std::any_of(out.begin(), out.end(), [](const Tensor& value) { return value.size() == 0; }));
        EXPECT_EQ(out[8 + 8].size(), 1);
      });
    }
    return count;
  };
  EXPECT_EQ(scan("Split-train"), 9909U);
  EXPECT_EQ(scan("Split-eval"), 5091U);
  EXPECT_EQ(scan("unlabelled"), 2459U);
}

}  // namespace
}  // namespace headpond
