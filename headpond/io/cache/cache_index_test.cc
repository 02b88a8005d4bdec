// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "headpond/io/cache/cache_index_internal.h"
#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

constexpr CacheKey kKey = {7, 8};
const IndexEntry kEntry = {EntryKind::value, 3, 640, 128, 0x1234};

TEST(IndexEntry, IsOfOneCacheAndPosition) {
  const auto words = to_words(kEntry, 5, kKey);
  EXPECT_EQ(from_words(words, 5, kKey), kEntry);
  EXPECT_EQ(from_words(words, 6, kKey), std::nullopt);
  EXPECT_EQ(from_words(words, 5, {7, 9}), std::nullopt);
  EXPECT_EQ(from_words(words, 5, {6, 8}), std::nullopt);
  EXPECT_EQ(from_words({}, 5, kKey), std::nullopt);
}

TEST(IndexEntry, NoticesEachFlippedBit) {
  const auto words = to_words(kEntry, 5, kKey);
  for (size_t bit = 0; bit < 256; ++bit) {
    auto bad = words;
    bad[bit / 64] ^= uint64_t{1} << bit % 64;
    EXPECT_EQ(from_words(bad, 5, kKey), std::nullopt) << bit;
  }
}

TEST(CacheIndex, FindsWhatWasPut) {
  const test::TempFolder folder;
  CacheIndex index(folder.path(), kKey);
  for (const int64_t position : {int64_t{0}, int64_t{65535}, int64_t{65536}, int64_t{1} << 24, kMostPositions - 1}) {
    EXPECT_EQ(index.find(position), std::nullopt);
    ASSERT_TRUE(index.put(position, kEntry));
    EXPECT_EQ(index.find(position), kEntry);
    const IndexEntry hole = {.kind = EntryKind::hole};
    ASSERT_TRUE(index.put(position, hole)) << "an entry can be replaced";
    EXPECT_EQ(index.find(position), hole);
    EXPECT_EQ(CacheIndex(folder.path(), kKey).find(position), hole) << "another process finds it";
    EXPECT_EQ(CacheIndex(folder.path(), {1, 1}).find(position), std::nullopt) << "that of another cache";
  }
}

TEST(CacheIndex, SeesWhatAnotherProcessPuts) {
  const test::TempFolder folder;
  CacheIndex reads(folder.path(), kKey), writes(folder.path(), kKey);
  EXPECT_EQ(reads.find(1), std::nullopt);
  ASSERT_TRUE(writes.put(1, kEntry));
  EXPECT_EQ(reads.find(1), kEntry);
  ASSERT_TRUE(writes.put(2, kEntry));
  EXPECT_EQ(reads.find(2), kEntry) << "when its file is mapped already";
}

TEST(CacheIndex, RemembersWhichEntryWasChecked) {
  const test::TempFolder folder;
  CacheIndex index(folder.path(), kKey);
  EXPECT_FALSE(index.is_checked(70, kEntry));
  ASSERT_TRUE(index.put(70, kEntry));
  EXPECT_FALSE(index.is_checked(70, kEntry));
  index.mark_checked(70, kEntry);
  EXPECT_TRUE(index.is_checked(70, kEntry));
  EXPECT_FALSE(index.is_checked(71, kEntry));
  IndexEntry other = kEntry;
  other.offset += 64;
  EXPECT_FALSE(index.is_checked(70, other)) << "another process may write one";
  index.unmark_checked(70);
  EXPECT_FALSE(index.is_checked(70, kEntry));
}

TEST(CacheIndex, AFileThatAKillLeftShortIsMadeWhole) {
  const test::TempFolder folder;
  test::put_file(folder.file(CacheIndex::file_name(0)), {});
  CacheIndex index(folder.path(), kKey);
  EXPECT_EQ(index.find(9), std::nullopt);
  ASSERT_TRUE(index.put(9, kEntry));
  EXPECT_EQ(index.find(9), kEntry);
}

TEST(CacheIndex, WritesAFileThatAnotherProcessMadeWhileItWasLookedFor) {
  const test::TempFolder folder;
  CacheIndex index(folder.path(), kKey);
  int opened = 0;
  {
    const FaultInjection injection([&](std::string_view call) -> Fault {
      if (call != "open" || ++opened > 1) return {};
      const std::string path = folder.file(CacheIndex::file_name(0));
      test::put_file(path, {});
      std::filesystem::resize_file(path, CacheIndex::kChunkEntries * kEntryBytes);
      return {.error = ENOENT};  // It was looked for just before.
    });
    EXPECT_EQ(index.find(9), std::nullopt);
  }
  EXPECT_EQ(opened, 1);
  const auto put = index.put(9, kEntry);
  ASSERT_TRUE(put) << put.error();
  EXPECT_EQ(index.find(9), kEntry);
}

TEST(CacheIndex, WritesManyFilesWithFewDescriptors) {
  const test::TempFolder folder;
  CacheIndex index(folder.path(), kKey);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  for (int64_t chunk = 0; chunk < 100; ++chunk) {
    ASSERT_TRUE(index.put(chunk << CacheIndex::kChunkBits, kEntry));
    ASSERT_TRUE(index.put((chunk << CacheIndex::kChunkBits) + 1, kEntry));
  }
  EXPECT_LE(open_files() - before, 64);
  for (int64_t chunk = 0; chunk < 100; ++chunk) {
    EXPECT_EQ(index.find((chunk << CacheIndex::kChunkBits) + 1), kEntry);
  }
}

TEST(CacheIndex, TellsTheSystemsError) {
  CacheIndex index("/nowhere/at/all", kKey);
  EXPECT_EQ(index.find(0), std::nullopt);
  const auto put = index.put(0, kEntry);
  ASSERT_FALSE(put);
  EXPECT_THAT(put.error().message(), testing::HasSubstr("/nowhere/at/all/index-0000"));
}

}  // namespace
}  // namespace headpond::internal
