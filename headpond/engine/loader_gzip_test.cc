// SPDX-License-Identifier: Apache-2.0
// Compressed text within the memory of a Loader.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/io/inflated/chunk_sizes.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

class LoaderGzip : public testing::Test {
 protected:
  static constexpr int kFiles = 3, kLines = 40'000;
  static constexpr int64_t kInflated = int64_t{kFiles} * kLines * 41;

  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    chunk_ = chunk_bytes.exchange(40'000);
    for (int file = 0; file < kFiles; ++file) {
      std::string text;
      for (int i = 0; i < kLines; ++i) text += fmt::format("{:08} {:031}\n", i, uint64_t{2654435761} * i * (file + 1));
      test::put_file(folder_.file(fmt::format("{}.gz", file)), test::gzip(test::to_bytes(text), 1));
    }
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    chunk_bytes = chunk_;
  }
  // The most memory that a run takes; `all`: the lines in order, one after the other.
  int64_t peak(int64_t memory, int threads, std::string* all = nullptr) const {
    Loader loader(text_lines(folder_.file("*.gz")) | batch(512), {.threads = threads, .memory = memory});
    while (auto next = loader.next()) {
      for (int64_t i = 0; all != nullptr && i < (*next)[0].size(); ++i) *all += (*next)[0].bytes_at(i);
    }
    return loader.stats().memory_peak;
  }

  const test::TempFolder folder_;
  uint64_t chunk_ = 0;
};

TEST_F(LoaderGzip, StreamsWithinTheMemory) {
  std::string whole, bounded, inline_;
  EXPECT_GT(peak(int64_t{1} << 30, 3, &whole), kInflated) << "control: with memory for it, all stays";
  EXPECT_EQ(whole.size(), static_cast<size_t>(kInflated - kFiles * kLines));
  EXPECT_LT(peak(4'000'000, 3, &bounded), 5'000'000);
  EXPECT_TRUE(bounded == whole);
  EXPECT_LT(peak(4'000'000, 0, &inline_), 5'000'000);
  EXPECT_TRUE(inline_ == whole);
}

}  // namespace
}  // namespace headpond::internal
