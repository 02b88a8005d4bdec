// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/ways.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>

#include "examples/preprocess_once/drawn_test_internal.h"
#include "examples/preprocess_once/operators.h"
#include "examples/preprocess_once/records.h"

namespace preprocess_once {
namespace {

using hp::test::TempFolder;
using testing::HasSubstr;
using testing::SizeIs;

std::string written(const hp::Dataset& samples, const TempFolder& folder) {
  const auto shard = write_prepared(samples, folder.file("records"));
  EXPECT_TRUE(shard) << shard.error();
  return shard ? shard->path : "";
}

Digests expected() {
  const auto run = run_straightforwardly(test::drawn(), 7);
  EXPECT_TRUE(run) << run.error();
  return run ? run->digests : Digests();
}

TEST(Repeats, IsJustSoManyEpochs) {
  const Digests one = {1, 2, 3}, two = {1, 2, 3, 1, 2, 3};
  EXPECT_TRUE(repeats(one, one, 1));
  EXPECT_TRUE(repeats(two, one, 2));
  EXPECT_FALSE(repeats(one, one, 2)) << "an epoch is missing";
  EXPECT_FALSE(repeats(two, one, 1)) << "an epoch too many";
  EXPECT_FALSE(repeats({1, 2, 3, 1, 2}, one, 2));
  EXPECT_FALSE(repeats({1, 2, 3, 1, 3, 2}, one, 2));
  EXPECT_FALSE(repeats({}, {}, 1));
}

TEST(Ways, GiveTheSameSamples) {
  const TempFolder folder;
  const Digests one = expected();
  ASSERT_THAT(one, SizeIs(5));
  const auto operators = run_loader([] { return prepared(test::drawn(), 7); }, {});
  ASSERT_TRUE(operators) << operators.error();
  EXPECT_TRUE(repeats(operators->digests, one, 1));
  const std::string path = written(prepared(test::drawn(), 7), folder);
  const auto records = run_loader([&] { return read_prepared(path); }, {.epochs = 3});
  ASSERT_TRUE(records) << records.error();
  EXPECT_TRUE(repeats(records->digests, one, 3));
  const auto in_memory = run_in_memory(path, 2);
  ASSERT_TRUE(in_memory) << in_memory.error();
  EXPECT_TRUE(repeats(in_memory->digests, one, 2));
  for (const auto* run : {&operators, &records, &in_memory}) EXPECT_GT((*run)->rate, 0);
  const auto times = time_distances(path, 7);
  ASSERT_TRUE(times) << times.error();
  EXPECT_GT(times->brute_force_ms, 0);
  EXPECT_GT(times->linear_ms, 0);
}

TEST(Ways, EndAfterTheSampleAtWhichTheyAreStopped) {
  const TempFolder folder;
  const auto make = [] { return prepared(test::drawn(), 7); };
  const std::string path = written(make(), folder);
  const auto read = [&] { return read_prepared(path); };
  const std::map<std::string, std::function<std::optional<hp::Error>(const GoOn&)>> ways = {
      {"straightforward",
       [](const GoOn& go_on) { return test::error_of(run_straightforwardly(test::drawn(), 7, go_on)); }},
      {"operators", [&](const GoOn& go_on) { return test::error_of(run_loader(make, {}, go_on)); }},
      {"tfrecord", [&](const GoOn& go_on) { return test::error_of(run_loader(read, {.epochs = 9}, go_on)); }},
      {"in memory", [&](const GoOn& go_on) { return test::error_of(run_in_memory(path, 9, go_on)); }},
      {"distances", [&](const GoOn& go_on) { return test::error_of(time_distances(path, 7, go_on)); }},
      {"draw", [&](const GoOn& go_on) { return test::error_of(draw_pictures(folder.file("drawn"), 5, 7, go_on)); }},
      {"write",
       [&](const GoOn& go_on) { return test::error_of(write_prepared(make(), folder.file("again"), go_on)); }}};
  for (const auto& [name, way] : ways) {
    int64_t last = 0;
    const auto error = way([&](int64_t done) {
      EXPECT_EQ(done, last + 1) << name;
      last = done;
      return done < 3;
    });
    ASSERT_TRUE(error) << name << " went on";
    EXPECT_EQ(error->kind(), hp::ErrorKind::Cancelled) << name;
    EXPECT_EQ(last, 3) << name;
  }
}

// Of `count` samples of 6 MiB.
hp::Dataset large(int64_t count) {
  constexpr int64_t kSide = 1024;
  const auto make = [](int64_t number) {
    hp::Tensor input = hp::Tensor::empty(hp::u8, {kSide, kSide, kChannels});
    std::fill_n(input.mutable_data(), input.byte_size(), static_cast<std::byte>(number));
    hp::Tensor nuclei = hp::Tensor::empty(hp::u8, {kSide, kSide});
    std::fill_n(nuclei.mutable_data(), nuclei.byte_size(), std::byte{1});
    return std::tuple(std::move(input), std::move(nuclei));
  };
  return hp::range(count) | hp::map(make, {.output = sample_fields(), .name = "make"});
}

// What comes of it if the last of `count` large samples is damaged as soon as the loop has the first one.
hp::Result<Run> run_of_damaged(int64_t count) {
  const TempFolder folder;
  const std::string path = written(large(count), folder);
  return run_in_memory(path, 1, [&](int64_t done) {
    if (done > 1) return true;
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-1000, std::ios::end);
    EXPECT_TRUE(file.put('x').flush());
    return true;
  });
}

TEST(InMemory, HoldsNoMoreThanAPartOfTheSamples) {
  const auto part = run_of_damaged(12);
  ASSERT_FALSE(part) << "the last of 72 MiB was held already";
  EXPECT_EQ(part.error().kind(), hp::ErrorKind::DataLoss);
  const auto whole = run_of_damaged(10);
  EXPECT_TRUE(whole) << whole.error() << ": the last of 60 MiB was not held";
}

TEST(InMemory, GivesAllPartsInEachEpoch) {
  const TempFolder folder;
  const auto run = run_in_memory(written(large(12), folder), 2);
  ASSERT_TRUE(run) << run.error();
  ASSERT_THAT(run->digests, SizeIs(24));
  EXPECT_TRUE(repeats(run->digests, {run->digests.begin(), run->digests.begin() + 12}, 2));
  EXPECT_NE(run->digests.front(), run->digests[11]);
}

TEST(Ways, FailWithTheNameOfWhatCannotBeRead) {
  std::vector<Picture> pictures = test::drawn();
  pictures[2].masks.emplace_back("nowhere.png");
  const auto straightforward = run_straightforwardly(pictures, 7);
  ASSERT_FALSE(straightforward);
  EXPECT_THAT(straightforward.error().to_string(), HasSubstr("nowhere.png"));
  const auto operators = run_loader([&] { return prepared(pictures, 7); }, {});
  ASSERT_FALSE(operators);
  EXPECT_THAT(operators.error().to_string(), HasSubstr("nowhere.png"));
}

}  // namespace
}  // namespace preprocess_once
