// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/inflated/chunk_cache_internal.h"
#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

// A file of one chunk.
std::shared_ptr<GzipChunks> small_file(const std::string& path) {
  test::put_file(path, test::gzip(test::to_bytes("one\ntwo\n")));
  ChunkFormat format{.reader = "test",
                     .header = [](std::string_view, bool) { return std::optional<size_t>(0); },
                     .next = [](std::string_view text,
                                bool) { return std::optional(ChunkFormat::Found{.end = text.find('\n') + 1}); }};
  return GzipChunks::open(path, format, {.keep_index = false}).value();
}

// Whether the chunk is in memory: else it is inflated.
bool has(const GzipChunks& file) {
  const int64_t before = inflate_counts().streams;
  EXPECT_TRUE(file.chunk_of(0, true));
  return inflate_counts().streams == before;
}

TEST(ChunkCache, DropsTheOldestForTwiceWhatIsAdded) {
  const test::TempFolder folder;
  ChunkCache::shared().clear();
  ChunkCache cache;
  const auto a = small_file(folder.file("a")), b = small_file(folder.file("b")), c = small_file(folder.file("c"));
  for (const auto& file : {a, b, c}) {
    (void)has(*file);
    cache.add(file, 0, 100, true);
  }
  cache.add(c, 0, 60, false);
  EXPECT_TRUE(has(*c));
  EXPECT_FALSE(has(*a));
  EXPECT_FALSE(has(*b));
}

TEST(ChunkCache, AFileThatIsGoneFreesNothing) {
  const test::TempFolder folder;
  ChunkCache cache;
  auto gone = small_file(folder.file("a"));
  const auto b = small_file(folder.file("b"));
  (void)has(*b);
  cache.add(gone, 0, 1000, true);
  cache.add(b, 0, 10, true);
  gone.reset();
  cache.add({}, 0, 5, false);
  EXPECT_FALSE(has(*b));
}

TEST(ChunkCache, ForgetsAll) {
  const test::TempFolder folder;
  const auto a = small_file(folder.file("a"));
  (void)has(*a);
  EXPECT_TRUE(has(*a));
  ChunkCache::shared().clear();
  EXPECT_FALSE(has(*a));
}

}  // namespace
}  // namespace headpond::internal
