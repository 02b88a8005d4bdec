// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/record_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <type_traits>

#include "headpond/io/record/record_writer.h"
#include "headpond/queue/queue_test_internal.h"
#include "tests/test_files.h"

namespace headpond::tf1 {
namespace {

using headpond::internal::later;
using headpond::internal::QueueTest;
using headpond::internal::refusal;
using headpond::internal::until_waiting;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// One record after the other, in the order of the files: what a test asks for is all that happens.
struct Plain {
  int64_t batch_size = 1, buffer_size = 1, parallelism = 1;
  double shift_ratio = 0;
  uint64_t seed = 0;
  std::optional<Compression> compression = {};

  operator RecordInputOptions() const {  // NOLINT(google-explicit-constructor)
    return {batch_size, buffer_size, parallelism, shift_ratio, seed, compression};
  }
};

class RecordInputs : public QueueTest {
 protected:
  void put(const std::string& name, const std::vector<std::string>& records,
           Compression compression = Compression::none) const {
    const auto writer = RecordWriter::open(folder_.file(name), {.compression = compression}).value();
    for (const auto& record : records) EXPECT_TRUE(writer->append(record));
    EXPECT_TRUE(writer->close());
  }
  // `files` files a, b, ... of the records a0, a1, ...
  void put_files(int files, int records) const {
    for (int file = 0; file < files; ++file) {
      const std::string name(1, static_cast<char>('a' + file));
      std::vector<std::string> all;
      for (int i = 0; i < records; ++i) all.push_back(name + std::to_string(i));
      put(name, all);
    }
  }
  RecordInput input(const Plain& options = {}) const { return RecordInput(folder_.file("*"), options); }
  static std::vector<std::string> take(const RecordInput& input, size_t count) {
    std::vector<std::string> all;
    while (all.size() < count) {
      const auto batch = input.read();
      EXPECT_TRUE(batch) << batch.error();
      if (!batch) break;
      all.insert(all.end(), batch->begin(), batch->end());
    }
    return all;
  }
  std::vector<std::string> take(size_t count, const Plain& options) const { return take(input(options), count); }
  static std::vector<std::string> sorted(std::vector<std::string> records) {
    std::ranges::sort(records);
    return records;
  }

  const test::TempFolder folder_;
};

TEST_F(RecordInputs, AnEpochHasEachRecordOnceAndEndsBeforeTheNextOneBegins) {
  put_files(3, 10);
  for (const int64_t parallelism : {1, 2, 5}) {
    for (const int64_t buffer : {1, 7, 1000}) {
      const auto all = take(120, {.buffer_size = buffer, .parallelism = parallelism});
      const auto epoch = sorted({all.begin(), all.begin() + 30});
      EXPECT_EQ(std::ranges::adjacent_find(epoch), epoch.end());
      for (auto at = all.begin(); at != all.end(); at += 30) EXPECT_EQ(sorted({at, at + 30}), epoch);
    }
  }
}

TEST_F(RecordInputs, WithOneThreadTheOrderFollowsFromTheSeed) {
  put_files(4, 5);
  const Plain options = {.buffer_size = 6, .seed = 3};
  const auto first = take(60, options);
  EXPECT_EQ(take(60, options), first);
  const RecordInput slow = input(options);  // Whatever is inside by the time of a call.
  std::vector<std::string> later_on = take(slow, 1);
  until_waiting(slow.queue(), 1, 0);
  for (const auto& record : take(slow, 59)) later_on.push_back(record);
  EXPECT_EQ(later_on, first);
  EXPECT_EQ(take(60, {.batch_size = 5, .buffer_size = 6, .seed = 3}), first);
  EXPECT_NE(take(60, {.buffer_size = 6, .seed = 4}), first);
  EXPECT_NE(std::vector(first.begin(), first.begin() + 20), std::vector(first.begin() + 20, first.begin() + 40));
}

TEST_F(RecordInputs, ABufferOfOneKeepsTheOrderWithinFilesAndALargeOneMixesThem) {
  put_files(2, 50);
  const auto in_order = take(50, {});
  EXPECT_EQ(in_order[0].substr(1), "0");
  EXPECT_EQ(in_order[49], in_order[0].substr(0, 1) + "49");
  const auto mixed = take(50, {.buffer_size = 100});
  EXPECT_GT(std::ranges::count_if(mixed, [](const auto& record) { return record[0] == 'a'; }), 0);
  EXPECT_GT(std::ranges::count_if(mixed, [](const auto& record) { return record[0] == 'b'; }), 0);
}

TEST_F(RecordInputs, ARecordIsAheadByAsMuchAsTheBufferHolds) {
  put_files(1, 100);
  const auto all = take(100, {.buffer_size = 8});
  int furthest = 0;
  for (int i = 0; i < 100; ++i) furthest = std::max(furthest, std::stoi(all[static_cast<size_t>(i)].substr(1)) - i);
  EXPECT_EQ(furthest, 7);
}

TEST_F(RecordInputs, TheFirstIsChosenWhenHalfTheBufferIsFullAndTwoAreReadForEachUntilAllOfItIs) {
  constexpr int kEpoch = 40, kBuffer = 8, kLooked = 10;
  put_files(1, kEpoch);
  std::vector<int> furthest(2 * kLooked);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto all = take(kEpoch + kLooked, {.batch_size = 10, .buffer_size = kBuffer, .seed = seed});
    for (size_t i = 0; i < kLooked; ++i) {
      furthest[i] = std::max(furthest[i], std::stoi(all[i].substr(1)));
      furthest[kLooked + i] = std::max(furthest[kLooked + i], std::stoi(all[kEpoch + i].substr(1)));
    }
  }
  for (int i = 0; i < kLooked; ++i) {
    const int last = std::min(kBuffer / 2 + 2 * i, kBuffer + i) - 1;  // Of those that are read by then.
    EXPECT_EQ(furthest[static_cast<size_t>(i)], last) << i;
    EXPECT_EQ(furthest[static_cast<size_t>(kLooked + i)], last) << "second epoch, " << i;
  }
}

TEST_F(RecordInputs, TheDefaultsAreTensorFlows) {
  const RecordInputOptions defaults;
  EXPECT_EQ(defaults.batch_size, 32);
  EXPECT_EQ(defaults.buffer_size, 10'000);
  EXPECT_EQ(defaults.parallelism, 16);
  EXPECT_EQ(defaults.shift_ratio, 0);
  EXPECT_EQ(defaults.seed, 301U);
  EXPECT_EQ(defaults.compression, std::nullopt);
  put_files(2, 3);
  EXPECT_THAT(*RecordInput(folder_.file("*")).read(), SizeIs(32));
}

TEST_F(RecordInputs, AShiftStartsFurtherInTheSameOrderOfFiles) {
  put_files(8, 1);
  const auto plain = take(24, {.seed = 5}), shifted = take(24, {.shift_ratio = 0.25, .seed = 5});
  for (size_t epoch = 0; epoch < 24; epoch += 8) {
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(shifted[epoch + i], plain[epoch + (i + 2) % 8]);
  }
}

TEST_F(RecordInputs, ABatchMayHaveRecordsOfTwoEpochs) {
  put_files(1, 3);
  const RecordInput two = input({.batch_size = 2});
  EXPECT_THAT(*two.read(), ElementsAre("a0", "a1"));
  EXPECT_THAT(*two.read(), ElementsAre("a2", "a0"));
  EXPECT_THAT(take(3000, {.batch_size = 1000}), SizeIs(3000));
}

TEST_F(RecordInputs, ReadsCompressedFilesAndSeesNewOnesInLaterEpochs) {
  put("a", {"x"}, Compression::gzip);
  const RecordInput all = input();
  EXPECT_THAT(*all.read(), ElementsAre("x"));
  put("b", {"y"}, Compression::zlib);
  EXPECT_THAT(take(all, 200), testing::Contains("y"));
  EXPECT_EQ(input({.compression = Compression::none}).read().error().kind(), ErrorKind::DataLoss);
}

TEST_F(RecordInputs, AnErrorComesAfterTheGoodRecordsAndStays) {
  put("a", {"x", "y"});
  std::filesystem::resize_file(folder_.file("a"), 20);
  const RecordInput cut = input();
  EXPECT_THAT(*cut.read(), ElementsAre("x"));
  for (int i = 0; i < 2; ++i) {
    const auto error = cut.read().error();
    EXPECT_EQ(error.kind(), ErrorKind::DataLoss);
    EXPECT_THAT(error.message(), HasSubstr(folder_.file("a")));
  }
}

TEST_F(RecordInputs, WhatIsInTheBufferComesBeforeTheError) {
  put_files(1, 10);
  std::filesystem::resize_file(folder_.file("a"), 9 * 18 + 5);
  const RecordInput cut = input({.batch_size = 3, .buffer_size = 5});
  EXPECT_THAT(sorted(take(cut, 9)), ElementsAre("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"));
  EXPECT_EQ(cut.read().error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(input({.batch_size = 10, .buffer_size = 5}).read().error().kind(), ErrorKind::DataLoss);
}

TEST_F(RecordInputs, FilesWithoutARecordAndPatternsWithoutAFileAreNotFound) {
  EXPECT_EQ(input().read().error().kind(), ErrorKind::NotFound);
  put("a", {});
  put("b", {});
  const auto error = input({.parallelism = 3}).read().error();
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_THAT(error.message(), HasSubstr("hold no record"));
}

TEST_F(RecordInputs, ReadTheFilesOfEachPattern) {
  put_files(3, 2);
  const std::string first = folder_.file("a"), last = folder_.file("c");
  EXPECT_THAT(sorted(take(RecordInput({first, last}, Plain()), 4)), ElementsAre("a0", "a1", "c0", "c1"));
  EXPECT_THAT(take(RecordInput({first.c_str(), last.c_str()}, Plain{.batch_size = 4}), 4), SizeIs(4))
      << "not the characters between two addresses";
  EXPECT_THAT(sorted(take(RecordInput({folder_.file("[ab]"), last}, Plain()), 6)),
              ElementsAre("a0", "a1", "b0", "b1", "c0", "c1"));
  EXPECT_THAT(sorted(take(RecordInput({first}, Plain()), 2)), ElementsAre("a0", "a1")) << "one pattern in braces";
  EXPECT_THAT(sorted(take(RecordInput({first.c_str()}, Plain()), 2)), ElementsAre("a0", "a1"));
  EXPECT_THAT(sorted(take(RecordInput({{first.c_str(), last.c_str()}}, Plain()), 4)),
              ElementsAre("a0", "a1", "c0", "c1"))
      << "two pairs of braces";
  static_assert(!std::is_convertible_v<std::initializer_list<std::string>, RecordInput>);
  EXPECT_REFUSES("no file is named", RecordInput(Patterns()));
}

TEST_F(RecordInputs, CloseEndsAReadThatWaitsAndGivesWhatIsReady) {
  put_files(1, 3);
  const RecordInput large = input({.batch_size = 1'000'000'000});
  auto waiting = later([large] { return large.read(); });
  until_waiting(large.queue(), 0, 1);
  large.close();
  EXPECT_EQ(waiting.get().error().kind(), ErrorKind::OutOfRange);
  const RecordInput small = input();
  until_waiting(small.queue(), 1, 0);
  small.close();
  const auto ready = small.queue().size();
  EXPECT_GT(ready, 0);
  for (int64_t i = 0; i < ready; ++i) EXPECT_TRUE(small.read());
  EXPECT_EQ(small.read().error().kind(), ErrorKind::OutOfRange);
  small.close();
}

TEST_F(RecordInputs, AStopAndATimeoutEndAReadAndLoseNothing) {
  put_files(1, 40);
  const RecordInput all = input({.batch_size = 1'000'000'000});
  EXPECT_EQ(all.read({.timeout = std::chrono::nanoseconds(0)}).error().kind(), ErrorKind::DeadlineExceeded);
  std::stop_source stop;
  auto waiting = later([all, token = stop.get_token()] { return all.read({.stop = token}); });
  until_waiting(all.queue(), 0, 1);
  stop.request_stop();
  EXPECT_EQ(waiting.get().error().kind(), ErrorKind::Cancelled);
  const RecordInput one = input();
  EXPECT_EQ(one.read({.stop = stop.get_token()}).error().kind(), ErrorKind::Cancelled);
  EXPECT_THAT(*one.read(), ElementsAre("a0"));
}

TEST_F(RecordInputs, ThatIsDroppedEndsItsThreadsWhereverTheyAre) {
  put_files(3, 1000);
  for (const int64_t buffer : {1, 100, 100'000}) {
    for (const size_t taken : {0, 1, 500}) take(taken, {.buffer_size = buffer, .parallelism = 4});
  }
}

TEST_F(RecordInputs, SeveralThreadsShareTheRecords) {
  put_files(2, 50);
  const RecordInput all = input({.batch_size = 10, .buffer_size = 20, .parallelism = 2});
  const auto half = [all] { return take(all, 200); };
  auto other = later(half);
  std::map<std::string, int> times;
  for (const auto& record : half()) ++times[record];
  for (const auto& record : other.get()) ++times[record];
  EXPECT_THAT(times, SizeIs(100));
  for (const auto& [record, count] : times) EXPECT_EQ(count, 4) << record;
}

TEST_F(RecordInputs, RefuseOptionsThatMakeNoSense) {
  EXPECT_REFUSES("batch_size is 0", RecordInput("x", {.batch_size = 0}));
  EXPECT_REFUSES("buffer_size is -1", RecordInput("x", {.buffer_size = -1}));
  EXPECT_REFUSES("parallelism is 0", RecordInput("x", {.parallelism = 0}));
  EXPECT_REFUSES("parallelism is 1025, at most 1024", RecordInput("x", {.parallelism = 1025}));
  EXPECT_REFUSES("shift_ratio is 1", RecordInput("x", {.shift_ratio = 1}));
  EXPECT_REFUSES("shift_ratio is nan", RecordInput("x", {.shift_ratio = std::nan("")}));
}

}  // namespace
}  // namespace headpond::tf1
