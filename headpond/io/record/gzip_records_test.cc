// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/gzip_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/inflated/chunk_sizes.h"
#include "headpond/io/record/index/cached_index_internal.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_test_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

class GzipRecordsTest : public testing::Test {
 protected:
  static constexpr int kRecords = 4000;
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    youngest_indexed_ns = -1'000'000'000;
    chunk_ = chunk_bytes.exchange(20'000);
    for (int i = 0; i < kRecords; ++i) {
      std::string record;
      for (int word = 0; word < i % 17; ++word) record += std::to_string(uint64_t{2654435761} * (i + word));
      records_.push_back(record);
    }
    records_[1000] = std::string(100'000, 'x');  // More than a chunk.
    plain_ = test::frames_of(records_);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    youngest_indexed_ns = 2'000'000'000;
    chunk_bytes = chunk_;
  }
  std::string path() const { return folder_.file("x"); }
  void put(const std::vector<std::byte>& frames) const { test::put_file(path(), test::gzip(frames)); }
  static std::vector<std::string> all(const GzipRecords& file) {
    std::vector<std::string> found;
    for (int64_t i = 0; i < file.size(); ++i) {
      const auto record = file.at(i, true);
      found.push_back(!record          ? "!" + record.error().message()
                      : record->damage ? "?" + record->damage.message()
                                       : std::string(record->payload));
    }
    return found;
  }

  const test::TempFolder folder_;
  std::vector<std::string> records_;
  std::vector<std::byte> plain_;
  uint64_t chunk_ = 0;
};

TEST_F(GzipRecordsTest, GivesAnyRecordByItsNumberAndInflatesItsChunkOnly) {
  put(plain_);
  EXPECT_EQ(all(*GzipRecords::open(path(), {}).value()), records_);
  const int64_t before = inflate_counts().bytes_out;
  const auto again = GzipRecords::open(path(), {}).value();
  EXPECT_EQ(inflate_counts().bytes_out, before) << "the points were kept";
  EXPECT_EQ(again->at(3900, true)->payload, records_[3900]);
  EXPECT_LT(inflate_counts().bytes_out - before, static_cast<int64_t>(plain_.size() / 2));
  EXPECT_EQ(all(*again), records_);
}

TEST_F(GzipRecordsTest, KnowsWhereARecordBegins) {
  put(plain_);
  const auto file = GzipRecords::open(path(), {}).value();
  auto reader = RecordReader::open(path()).value();
  for (int64_t i = 0; i < kRecords; ++i) {
    ASSERT_EQ(file->offset_of(i).value(), reader->position().offset);
    ASSERT_TRUE(*reader->next());
  }
}

TEST_F(GzipRecordsTest, ARecordWithAWrongChecksumIsItsOwnDamage) {
  auto frames = plain_;
  const size_t at = test::frames_of({records_.begin(), records_.begin() + 3000}).size();
  ASSERT_FALSE(records_[3000].empty());
  frames[at + 12] ^= std::byte{1};
  put(frames);
  const auto found = all(*GzipRecords::open(path(), {}).value());
  ASSERT_EQ(found.size(), records_.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (i != 3000) {
      ASSERT_EQ(found[i], records_[i]);
    }
  }
  const auto in_order = [&] {
    const auto reader = RecordReader::open(path()).value();
    while (true) {
      const auto next = reader->next();
      if (!next) return "?" + next.error().message();
    }
  };
  EXPECT_EQ(found[3000], in_order());
}

TEST_F(GzipRecordsTest, DamageAfterWhichNothingIsFoundIsToldOrEndsIt) {
  const size_t at = test::frames_of({records_.begin(), records_.begin() + 3000}).size();
  auto wrong_length = plain_, cut = plain_;
  wrong_length[at] ^= std::byte{1};
  cut.resize(at + 5);
  const auto compressed = test::gzip(plain_);
  const auto stream_is_cut = std::vector(compressed.begin(), compressed.end() - 1000);
  const std::vector<std::byte> all_files[] = {test::gzip(wrong_length), test::gzip(cut), stream_is_cut};
  for (const auto& bytes : all_files) {
    test::put_file(path(), bytes);
    const auto refused = GzipRecords::open(path(), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(refused.error().message(), HasSubstr("record "));
    for (int time = 0; time < 2; ++time) {
      const auto front = all(*GzipRecords::open(path(), {.allow_damaged_end = true}).value());
      EXPECT_GE(front.size(), 3000U);
      EXPECT_LT(front.size(), records_.size());
      EXPECT_TRUE(std::equal(front.begin(), front.end(), records_.begin()));
    }
  }
}

TEST_F(GzipRecordsTest, OfAFileThatChangedGivesNoOldRecord) {
  put(plain_);
  const auto file = GzipRecords::open(path(), {}).value();
  ASSERT_TRUE(file->at(0, true));
  auto other = plain_;
  other.resize(test::frames_of({records_.begin(), records_.begin() + 100}).size());
  put(other);
  const auto changed = file->at(3900, true);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(GzipRecords::open(path(), {}).value()->size(), 100);
}

}  // namespace
}  // namespace headpond::internal
