// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "headpond/io/cache/cache_segments_internal.h"
#include "headpond/io/cache/element_record.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

std::vector<std::byte> bytes_of(size_t size, uint8_t value) { return std::vector<std::byte>(size, std::byte{value}); }

class CacheSegmentsTest : public testing::Test {
 protected:
  void TearDown() override { segment_bytes = before_; }
  const test::TempFolder folder_;

 private:
  const uint64_t before_ = segment_bytes;
};

bool holds(const CacheSegments& segments, const CacheSegments::Place& at, size_t size, uint8_t value) {
  const auto read = segments.read(at.segment, at.offset, size);
  return read && std::ranges::equal(read->bytes, bytes_of(size, value));
}

TEST_F(CacheSegmentsTest, ReadsWhatItAppends) {
  CacheSegments segments(folder_.path());
  std::vector<CacheSegments::Place> places;
  for (uint8_t i = 0; i < 10; ++i) places.push_back(*segments.append(bytes_of(64 * (i + size_t{1}), i)));
  for (uint8_t i = 0; i < 10; ++i) {
    EXPECT_EQ(places[i].offset % kRecordAlign, 0U);
    EXPECT_TRUE(holds(segments, places[i], 64 * (i + size_t{1}), i));
  }
  EXPECT_EQ(segments.appended(), 64U * 55);
  EXPECT_EQ(folder_.count(), 1U);
}

TEST_F(CacheSegmentsTest, EachProcessWritesItsOwnFile) {
  CacheSegments a(folder_.path()), b(folder_.path());
  const auto in_a = *a.append(bytes_of(64, 1)), in_b = *b.append(bytes_of(64, 2));
  EXPECT_NE(in_a.segment, in_b.segment);
  EXPECT_TRUE(holds(a, in_b, 64, 2));
  EXPECT_TRUE(holds(b, in_a, 64, 1));
}

TEST_F(CacheSegmentsTest, GoesOnWithAFileThatWasLeft) {
  CacheSegments::Place first;
  {
    CacheSegments segments(folder_.path());
    first = *segments.append(bytes_of(128, 1));
  }
  {
    std::filesystem::resize_file(folder_.file(CacheSegments::file_name(0)), 131);  // A kill in the next write.
    CacheSegments segments(folder_.path());
    const auto second = *segments.append(bytes_of(64, 2));
    EXPECT_EQ(second.segment, first.segment);
    EXPECT_EQ(second.offset, 192U);
    EXPECT_TRUE(holds(segments, first, 128, 1));
    EXPECT_TRUE(holds(segments, second, 64, 2));
  }
}

TEST_F(CacheSegmentsTest, BeginsAnotherFileWhenOneIsFull) {
  segment_bytes = 256;
  CacheSegments segments(folder_.path());
  std::vector<CacheSegments::Place> places;
  for (uint8_t i = 0; i < 9; ++i) places.push_back(*segments.append(bytes_of(128, i)));
  const auto large = *segments.append(bytes_of(1024, 77));
  EXPECT_EQ(folder_.count(), 6U) << "two a file, the last one alone, and a large record alone in its file";
  for (uint8_t i = 0; i < 9; ++i) EXPECT_TRUE(holds(segments, places[i], 128, i));
  EXPECT_TRUE(holds(segments, large, 1024, 77));
}

TEST_F(CacheSegmentsTest, BytesStayAsLongAsSomebodyHasThem) {
  auto segments = std::make_unique<CacheSegments>(folder_.path());
  const auto at = *segments->append(bytes_of(4096, 9));
  const auto read = *segments->read(at.segment, at.offset, 4096);
  segments.reset();
  std::filesystem::remove(folder_.file(CacheSegments::file_name(0)));
  EXPECT_TRUE(std::ranges::equal(read.bytes, bytes_of(4096, 9)));
}

TEST_F(CacheSegmentsTest, NoticesAFileThatIsTooShortOrGone) {
  CacheSegments segments(folder_.path());
  const auto at = *segments.append(bytes_of(64, 1));
  EXPECT_FALSE(segments.read(at.segment, at.offset, 128));
  EXPECT_FALSE(segments.read(at.segment, UINT64_MAX - 63, 128)) << "an end beyond 64 bits";
  EXPECT_FALSE(segments.read(at.segment + 1, 0, 64));
  EXPECT_TRUE(holds(segments, at, 64, 1));
}

TEST_F(CacheSegmentsTest, AFileThatIsCutReadsAsZerosAndIsNoticed) {
  CacheSegments segments(folder_.path());
  const auto at = *segments.append(bytes_of(size_t{1} << 20, 1));
  ASSERT_TRUE(holds(segments, at, size_t{1} << 20, 1));
  EXPECT_FALSE(segments.forget_if_lost(at.segment));
  std::filesystem::resize_file(folder_.file(CacheSegments::file_name(0)), 0);
  const auto read = segments.read(at.segment, at.offset, size_t{1} << 20);
  ASSERT_TRUE(read) << "nobody asks the system again";
  EXPECT_EQ(read->bytes.back(), std::byte{0});
  EXPECT_TRUE(segments.forget_if_lost(at.segment));
  EXPECT_FALSE(segments.read(at.segment, at.offset, 64)) << "mapped anew";
}

TEST_F(CacheSegmentsTest, ReadsNoFileThatAnotherProcessMadeInItsPlace) {
  CacheSegments segments(folder_.path());
  const auto at = *segments.append(bytes_of(64, 1));
  ASSERT_TRUE(holds(segments, at, 64, 1));
  const std::string path = folder_.file(CacheSegments::file_name(0));
  std::filesystem::remove(path);
  test::put_file(path, bytes_of(64, 2));
  constexpr uint64_t kBeyondTheMapping = uint64_t{64} << 20;
  std::filesystem::resize_file(path, kBeyondTheMapping + 64);
  EXPECT_FALSE(segments.read(at.segment, kBeyondTheMapping, 64));
  EXPECT_FALSE(segments.read(at.segment, 4096, 64)) << "within the mapping, of which the own file has less";
  EXPECT_TRUE(holds(segments, at, 64, 1));
  CacheSegments other(folder_.path());
  EXPECT_TRUE(other.read(at.segment, kBeyondTheMapping, 64));
}

TEST_F(CacheSegmentsTest, ManyThreadsAppend) {
  CacheSegments segments(folder_.path());
  std::vector<std::vector<CacheSegments::Place>> places(4);
  {
    std::vector<std::jthread> threads;
    for (uint8_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) places[t].push_back(*segments.append(bytes_of(192, t)));
      });
    }
  }
  for (uint8_t t = 0; t < 4; ++t) {
    for (const auto& place : places[t]) EXPECT_TRUE(holds(segments, place, 192, t));
  }
}

}  // namespace
}  // namespace headpond::internal
