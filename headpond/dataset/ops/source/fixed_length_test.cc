// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/fixed_length.h"

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class FixedLengthFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    test::put_file(folder_.file(name), test::to_bytes(content));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(FixedLengthFiles, AreRecordsOfU8) {
  const std::string one = write("1",
                                "HH\x01\x02\x03\x04"
                                "F"),
                    two = write("2",
                                "HH\x05\x06"
                                "F"),
                    none = write("3", "HHF");
  const Dataset dataset = fixed_length({one, none, two}, {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1});
  EXPECT_EQ(to_string(dataset.spec()), "{0: uint8[2]}");
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("[1 2] #0", "[3 4] #1", "[5 6] #2"));
  EXPECT_THAT(elements(fixed_length(one, {.record_bytes = 1, .header_bytes = 2, .footer_bytes = 1, .hop_bytes = 3})),
              ElementsAre("[1]", "[4]"));
  const FixedLengthSourceOptions in_turn{
      .record_bytes = 2, .header_bytes = 2, .footer_bytes = 1, .num_parallel_reads = 2};
  EXPECT_THAT(elements(fixed_length({one, none, two}, in_turn), {}, true),
              ElementsAre("[1 2] #0", "[3 4] #1", "[5 6] #2"));
  EXPECT_THAT(elements(fixed_length({one, two}, in_turn), {}, true), ElementsAre("[1 2] #0", "[5 6] #2", "[3 4] #1"));
  EXPECT_TRUE(fills(*(dataset | shuffle() | map([](uint8_t x) { return x / 2.F; })).node()));
  check_contract(dataset);
  check_contract(dataset | shuffle() | batch(2));
}

TEST_F(FixedLengthFiles, AreInflatedIfTheOptionSaysSo) {
  for (const Compression compression : {Compression::gzip, Compression::zlib}) {
    const auto bytes = test::to_bytes("H\x01\x02\x03\x04");
    test::put_file(folder_.file("packed"), compression == Compression::gzip ? test::gzip(bytes) : test::zlib(bytes));
    const FixedLengthSourceOptions options{.record_bytes = 2, .header_bytes = 1, .compression = compression};
    const Dataset dataset = fixed_length(folder_.file("packed"), options);
    EXPECT_THAT(elements(dataset, {}, true), ElementsAre("[1 2] #0", "[3 4] #1"));
    EXPECT_THAT(elements(dataset | shuffle(), {}, true), testing::SizeIs(2));
    check_contract(dataset);
  }
  EXPECT_THAT(fixed_length(write("plain", "ab"), {.record_bytes = 1}).plan(), Not(HasSubstr("compression")));
  EXPECT_THROW(fixed_length("x", {.record_bytes = 1, .compression = Compression::snappy}), Exception);
  const Dataset plain = fixed_length(write("plain", "ab"), {.record_bytes = 1, .compression = Compression::gzip});
  EXPECT_THAT(check(plain).error().message(), HasSubstr("plain"));
}

TEST_F(FixedLengthFiles, ThatAreCutOrMissingOrShrinkAreNamed) {
  const std::string cut = write("cut", "abc");
  const auto checked = check(fixed_length(cut, {.record_bytes = 2}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().place().source, cut);
  EXPECT_EQ(checked.error().place().record, 1U);
  EXPECT_EQ(checked.error().place().offset, 2U);
  EXPECT_FALSE(check(fixed_length(folder_.file("none"), {.record_bytes = 2})));
  EXPECT_THROW((void)fixed_length(cut, {.record_bytes = 0}), Exception);
  const Dataset dataset = fixed_length(cut, {.record_bytes = 1});
  ASSERT_TRUE(check(dataset));
  write("cut", "a");
  EXPECT_THAT(elements(dataset), ElementsAre("[97]", HasSubstr("cannot read record 1 at offset 1: " + cut + " shrank"),
                                             HasSubstr("record 2")));
  EXPECT_THAT(elements(fixed_length(write("empty", ""), {.record_bytes = 2})), IsEmpty());
}

TEST_F(FixedLengthFiles, ReadOtherwiseRefuseTheState) {
  const std::string path = write("x", "abcdef");
  Sequence sequence(fixed_length(path, {.record_bytes = 2}));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(fixed_length(path, {.record_bytes = 2}), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(fixed_length(path, {.record_bytes = 2, .hop_bytes = 1}), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal
