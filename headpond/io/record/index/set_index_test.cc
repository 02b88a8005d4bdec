// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/index/set_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/kept_fd_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

class SetIndexTest : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  static std::optional<std::vector<CountedFile>> files_of(const SetIndex& index) {
    const auto cached = index.read();
    return cached ? std::optional(cached->files) : std::nullopt;
  }
  static std::shared_ptr<const RecordIndex> three_records() {
    RecordIndex index({10, -5, 1, 2}, 7);
    for (const uint64_t offset : {0, 4, 5, 10}) index.add(offset);
    return std::make_shared<const RecordIndex>(std::move(index));
  }

  static size_t sums_of_one_file(uint64_t records, uint64_t scale) {
    return ((records + 1) * (scale == 1 ? 4 : 8) + 1023) / 1024 * sizeof(uint32_t);
  }

  const test::TempFolder cache_;
  const std::vector<std::shared_ptr<const RecordIndex>> offsets_ = {three_records(), nullptr};
  const std::vector<std::string> paths_ = {"/a/x", "/a/y"};
  const std::vector<CountedFile> counts_ = {{{10, -5, 7, 8, 9}, {10, -5, 1, 2}, 3}, {{0, 1, 0, 0, 0}, {0, 1, 0, 0}, 0}};
};

TEST_F(SetIndexTest, ReturnsWhatWasKept) {
  const SetIndex index("lines", paths_);
  EXPECT_EQ(files_of(index), std::nullopt);
  ASSERT_TRUE(index.keep(counts_));
  EXPECT_EQ(files_of(index), counts_);
  EXPECT_EQ(index.read()->offsets(0), nullptr) << "none were given";
  ASSERT_TRUE(SetIndex("none", {}).keep({}));
  EXPECT_EQ(files_of(SetIndex("none", {})), std::vector<CountedFile>());
}

TEST_F(SetIndexTest, ReturnsWhereTheRecordsAre) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_, offsets_));
  const auto cached = index.read();
  ASSERT_TRUE(cached);
  const auto first = cached->offsets(0);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->size(), 3U);
  EXPECT_EQ(first->mark(), counts_[0].mark);
  EXPECT_EQ(first->changed_ns(), 7);
  for (uint64_t i = 0; i <= 3; ++i) EXPECT_EQ(first->offset(i), offsets_[0]->offset(i));
  EXPECT_EQ(cached->offsets(1), nullptr);
  ASSERT_TRUE(index.keep(cached->files, {{first, nullptr}})) << "what was read can be kept again";
  EXPECT_EQ(index.read()->offsets(0)->offset(2), 5U);
}

TEST_F(SetIndexTest, KeepsNoOffsetsThatDoNotBelongToTheFile) {
  const SetIndex index("lines", paths_);
  const auto keeps = [&](const FileMark& mark, std::initializer_list<uint64_t> offsets, bool has_extra = false) {
    RecordIndex made(mark, 7);
    for (const uint64_t offset : offsets) made.add(offset);
    if (has_extra) made.set_extra({std::byte{1}});
    EXPECT_TRUE(index.keep(counts_, {{std::make_shared<const RecordIndex>(std::move(made)), nullptr}}));
    return index.read()->offsets(0) != nullptr;
  };
  const FileMark mark = counts_[0].mark;
  EXPECT_TRUE(keeps(mark, {0, 4, 5, 10})) << "control";
  EXPECT_FALSE(keeps({10, -5, 1, 3}, {0, 4, 5, 10})) << "of other content";
  EXPECT_FALSE(keeps(mark, {0, 4, 5, 9})) << "the end is damaged";
  EXPECT_FALSE(keeps(mark, {0, 5, 10})) << "another number of records";
  EXPECT_FALSE(keeps(mark, {0, 5, 4, 10})) << "a record that ends before it begins";
  EXPECT_FALSE(keeps(mark, {0, 4, 5, 10}, true)) << "the reader needs more";
}

TEST_F(SetIndexTest, BelongsToAReaderAndItsFilesInTheirOrder) {
  ASSERT_TRUE(SetIndex("lines", paths_).keep(counts_));
  EXPECT_EQ(files_of(SetIndex("rows", paths_)), std::nullopt);
  EXPECT_EQ(files_of(SetIndex("lines", std::vector<std::string>{"/a/y", "/a/x"})), std::nullopt);
  EXPECT_EQ(files_of(SetIndex("lines", std::vector<std::string>{"/a/x"})), std::nullopt);
  EXPECT_EQ(files_of(SetIndex("lines", std::vector<std::string>{"/a/../a/x", "/a/./y"})), counts_) << "the same files";
}

TEST_F(SetIndexTest, ADamagedOneIsNone) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_));
  const std::vector<std::byte> whole = read_file(index.path()).value();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{16};
    test::put_file(index.path(), damaged);
    EXPECT_EQ(files_of(index), std::nullopt) << at;
    test::put_file(index.path(), std::span(whole).first(at));
    EXPECT_EQ(files_of(index), std::nullopt) << at;
  }
  test::put_file(index.path(), whole);
  EXPECT_EQ(files_of(index), counts_) << "control";
}

TEST_F(SetIndexTest, GivesNoDamagedOffsets) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_, offsets_));
  const std::vector<std::byte> whole = read_file(index.path()).value();
  for (size_t back = 1; back <= offsets_[0]->table().size() + sizeof(uint32_t); ++back) {
    std::vector<std::byte> damaged = whole;
    damaged[whole.size() - back] ^= std::byte{1};
    test::put_file(index.path(), damaged);
    EXPECT_EQ(files_of(index), counts_) << back;
    const auto cached = index.read();
    for (uint64_t i = 0; i < 3; ++i) EXPECT_FALSE(KnownOffsets(cached, 0).range(i)) << back;
    EXPECT_EQ(cached->offsets(0), nullptr) << back;
    test::put_file(index.path(), std::span(whole).first(whole.size() - back));
    EXPECT_EQ(files_of(index), std::nullopt) << back;
  }
  test::put_file(index.path(), whole);
  EXPECT_NE(index.read()->offsets(0), nullptr) << "control";
}

// Another program has noticed the same, and was faster.
TEST_F(SetIndexTest, ADamagedOneThatWasReplacedMeanwhileStays) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_, offsets_));
  std::vector<std::byte> damaged = read_file(index.path()).value();
  damaged.back() ^= std::byte{1};
  test::put_file(index.path(), damaged);
  const auto cached = index.read();
  ASSERT_TRUE(index.keep(counts_, offsets_));
  EXPECT_EQ(cached->offsets(0), nullptr);
  ASSERT_NE(index.read(), nullptr);
  EXPECT_NE(index.read()->offsets(0), nullptr);
}

TEST_F(SetIndexTest, WithManyDescriptorsKeptItIsClosedAndReadWhereItIsMapped) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_, offsets_));
  const internal::RestoredFdLimit restored;
  const auto first = index.read();
  EXPECT_TRUE(KnownOffsets(first, 0).range(0)) << "control";
  internal::most_kept_fds = 1;
  const auto second = index.read();
  EXPECT_FALSE(KnownOffsets(second, 0).range(0));
  ASSERT_NE(KnownOffsets(second, 0).all(), nullptr);
  EXPECT_EQ(KnownOffsets(second, 0).all()->size(), 3U);
}

// A file of 4 GiB or more has offsets of eight bytes.
TEST_F(SetIndexTest, GivesTheRangeOfEachRecord) {
  for (const uint64_t scale : {uint64_t{1}, uint64_t{1} << 33}) {
    constexpr uint64_t kRecords = 1000;  // In several blocks.
    const FileMark mark{kRecords * (kRecords + 1) / 2 * scale, -5, 1, 2};
    RecordIndex made(mark, 7);
    for (uint64_t i = 0; i <= kRecords; ++i) made.add(i * (i + 1) / 2 * scale);
    const std::vector<CountedFile> counts = {{{mark.size, -5, 7, 8, 9}, mark, kRecords}, counts_[1]};
    const SetIndex index("lines", paths_);
    ASSERT_TRUE(index.keep(counts, {{std::make_shared<const RecordIndex>(std::move(made)), nullptr}}));
    const auto cached = index.read();
    EXPECT_FALSE(cached->has_offsets(1));
    ASSERT_TRUE(cached->has_offsets(0));
    const KnownOffsets known(cached, 0);
    EXPECT_EQ(known.size(), kRecords);
    EXPECT_EQ(known.mark(), mark);
    for (uint64_t i = 0; i < kRecords; ++i) {
      const auto range = known.range(i);
      ASSERT_TRUE(range) << i;
      EXPECT_EQ(range->begin, i * (i + 1) / 2 * scale) << i;
      EXPECT_EQ(range->end, (i + 1) * (i + 2) / 2 * scale) << i;
      const auto in_memory = KnownOffsets(known.all()).range(i);
      EXPECT_TRUE(in_memory && in_memory->begin == range->begin && in_memory->end == range->end) << i;
    }
    EXPECT_FALSE(known.range(kRecords));
    EXPECT_FALSE(KnownOffsets(known.all()).range(kRecords));
    auto damaged = read_file(index.path()).value();
    damaged[damaged.size() - sums_of_one_file(kRecords, scale) - 1] ^= std::byte{1};  // In the last block.
    test::put_file(index.path(), damaged);
    const auto torn = index.read();
    EXPECT_TRUE(KnownOffsets(torn, 0).range(0)) << "what is whole is given";
    EXPECT_FALSE(KnownOffsets(torn, 0).range(kRecords - 1));
    EXPECT_EQ(KnownOffsets(torn, 0).all(), nullptr);
  }
}

// As only somebody who wants to do harm would write it: (2^62 + 1) * 4 is 4 in 64 bits.
TEST_F(SetIndexTest, OneWithMoreRecordsThanItsOffsetsIsNone) {
  const SetIndex index("lines", std::vector<std::string>{paths_[0]});
  const auto put = [&](std::span<const std::byte> head, uint64_t records) {
    constexpr size_t kHeader = 40, kRow = 88, kRecords = kHeader + 56, kOffsetsBytes = kHeader + 72;
    std::vector<std::byte> made(head.begin(), head.begin() + kHeader + kRow);
    const auto append = [&](uint32_t value) {
      const auto bytes = std::as_bytes(std::span(&value, 1));
      made.insert(made.end(), bytes.begin(), bytes.end());
    };
    const uint32_t offset = 0, sum = crc32c(std::as_bytes(std::span(&offset, 1)));
    const uint64_t bytes = sizeof(offset), sums_crc = crc32c(std::as_bytes(std::span(&sum, 1)));
    std::memcpy(&made[kRecords], &records, sizeof(records));
    std::memcpy(&made[kOffsetsBytes], &bytes, sizeof(bytes));
    std::memcpy(&made[kOffsetsBytes + 8], &sums_crc, sizeof(sums_crc));
    append(crc32c(std::span(made)));
    append(offset);
    append(sum);
    test::put_file(index.path(), made);
  };
  ASSERT_TRUE(index.keep(std::span(counts_).first(1), std::span(offsets_).first(1)));
  const std::vector<std::byte> whole = read_file(index.path()).value();
  for (const uint64_t records : {uint64_t{1} << 62, uint64_t{1} << 63, uint64_t{4}}) {
    put(whole, records);
    EXPECT_EQ(files_of(index), std::nullopt) << records;
  }
  put(whole, 0);
  const auto none = index.read();
  ASSERT_TRUE(none) << "control";
  EXPECT_FALSE(KnownOffsets(none, 0).range(0));
}

TEST_F(SetIndexTest, OneWithDamagedOffsetsIsRemoved) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_, offsets_));
  const std::vector<std::byte> good = read_file(index.path()).value();
  EXPECT_NE(index.read()->offsets(0), nullptr);
  EXPECT_TRUE(std::filesystem::exists(index.path())) << "control";
  const size_t table = offsets_[0]->table().size() + sizeof(uint32_t);
  test::put_file(index.path(), test::torn_after(good.size() - table, good).back());
  EXPECT_EQ(files_of(index), counts_) << "the counts have a checksum of their own";
  EXPECT_EQ(index.read()->offsets(0), nullptr);
  EXPECT_EQ(files_of(index), std::nullopt) << "so all of it is made anew";
}

TEST_F(SetIndexTest, WithoutACacheFolderNothingIsKept) {
  setenv("XDG_CACHE_HOME", "relative", 1);
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  unsetenv("HOME");
  const SetIndex index("lines", paths_);
  if (home != nullptr) setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(index.path(), "");
  EXPECT_EQ(files_of(index), std::nullopt);
  EXPECT_EQ(index.keep(counts_).error().kind(), ErrorKind::FailedPrecondition);
}

TEST_F(SetIndexTest, AStampIsThatOfTheMark) {
  const std::string path = cache_.file("x");
  test::put_file(path, test::to_bytes("hello"));
  const FileMark mark = mark_of(*MappedFile::open(path).value());
  EXPECT_EQ(stamp_of(path)->size, mark.size);
  EXPECT_EQ(stamp_of(path)->modified_ns, mark.modified_ns);
  EXPECT_EQ(stamp_of(path + "y").error().kind(), ErrorKind::NotFound);
  EXPECT_TRUE(stamp_of(path)->is_proof());
  EXPECT_FALSE((FileStamp{.changed_ns = 0, .inode = 1}.is_proof()));
  EXPECT_FALSE((FileStamp{.changed_ns = 1, .inode = 0}.is_proof()));
}

TEST_F(SetIndexTest, StampsOfAFolderAreThoseOfItsFiles) {
  const std::string path = cache_.file("x"), below = cache_.file("folder/y");
  test::put_file(path, test::to_bytes("hello"));
  std::filesystem::create_directory(cache_.file("folder"));
  test::put_file(below, test::to_bytes("you"));
  for (const std::string& first : {path, below, std::string("name"), std::string(), cache_.file("none/z")}) {
    const Stamps stamps(first);
    EXPECT_EQ(stamps.of(path).value(), stamp_of(path).value()) << first;
    EXPECT_EQ(stamps.of(below).value(), stamp_of(below).value()) << first;
    const Error missing = stamps.of(path + "y").error();
    EXPECT_EQ(missing.to_string(), stamp_of(path + "y").error().to_string()) << first;
  }
}

}  // namespace
}  // namespace headpond
