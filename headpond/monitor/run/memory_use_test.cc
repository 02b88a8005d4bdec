// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/memory_use.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond {
namespace {

constexpr int64_t kMb = 1'000'000;

std::vector<std::string> texts_of(const std::vector<MemoryUse>& uses) {
  std::vector<std::string> texts;
  for (const MemoryUse& use : uses) texts.push_back(use.who + " " + std::to_string(use.bytes));
  return texts;
}

TEST(MemoryUse, AddsUpToWhatTheSystemSays) {
  LoaderStats train{.memory_free = 10, .memory_held = 300};
  train.memory = {{"idx", "s", 0, 5}, {"map", "s", 40, 50}, {"map", "s", 20, 20}};
  LoaderStats test{.memory_free = 1, .memory_held = 7};
  test.memory = {{"map", "s", 3, 3}};
  const BufferPoolStats tensors{.bytes_in_use = 500, .bytes_cached = 100, .allocations = 0, .reuses = 0};
  const MemoryInfo idle{.pss = 1000, .pss_file = 600}, now{.pss = 3000, .pss_file = 900};
  const auto uses = memory_uses({{"", train}, {"test", test}}, {{"queue/q", 450}}, tensors, now, idle);
  EXPECT_THAT(texts_of(uses),
              testing::ElementsAre("map 40", "map_1 20", "test/map 3", "held by the program 307", "queue/q 450",
                                   "other tensors 50", "free blocks 111", "mapped files 300", "outside 719"));
  EXPECT_EQ(explained_bytes(uses), 2000 - 719);
}

TEST(MemoryUse, BlocksThatAreNotWrittenYetAreTakenFromTheRest) {
  LoaderStats stats;
  stats.memory = {{"batch", "s", 70, 70}};
  EXPECT_THAT(texts_of(memory_uses({{"", stats}}, {}, {}, {.pss = 50}, {.pss = 40})),
              testing::ElementsAre("batch 70", "outside -60"));
}

Element two_megabytes(const Element&) {
  Tensor tensor = Tensor::empty(DType::u8, {2 * kMb});
  std::fill_n(tensor.mutable_data(), 2 * kMb, std::byte{1});
  return {std::move(tensor)};
}

// ThreadSanitizer keeps four bytes for each byte of the process, and the system counts them as the process's.
#if defined(__SANITIZE_THREAD__)
constexpr bool kHasThreadSanitizer = true;
#else
constexpr bool kHasThreadSanitizer = false;
#endif

// Of a pipeline that makes batches ahead, of which the program holds some, and keeps elements.
TEST(MemoryUse, ExplainsNineTenthsOfWhatTheProcessTakes) {
  if (kHasThreadSanitizer) GTEST_SKIP() << "the memory of ThreadSanitizer is more than all else";
  const MapOptions unknown{.output = {{"", DType::u8, {kUnknown}}}};
  BufferPool::shared().trim();  // Free blocks of other tests, which would be used again.
  const MemoryInfo idle = memory_info();
  if (idle.pss == 0) GTEST_SKIP() << "the system does not tell";
  Loader loader(range(24) | map(&two_megabytes, unknown) | cache() | batch(4), {.threads = 1});
  std::vector<Batch> held;
  for (int i = 0; i < 4; ++i) held.push_back(loader.next().value());
  LoaderStats stats;
  std::vector<MemoryUse> uses;
  double all = 0, explained = 0;
  // Until threads stop allocating between the two figures.
  for (int tries = 0; tries < 100 && !(all > 0 && std::abs(explained - all) < 0.1 * all); ++tries) {
    stats = loader.stats();
    const MemoryInfo now = memory_info();
    uses = memory_uses({{"", stats}}, {}, BufferPool::shared().stats(), now, idle);
    all = static_cast<double>(now.pss) - static_cast<double>(idle.pss);
    explained = static_cast<double>(explained_bytes(uses));
  }
  EXPECT_NEAR(explained, all, 0.1 * all) << testing::PrintToString(texts_of(uses));
  EXPECT_GT(all, 50 * kMb) << "control: it is not little";
  held.clear();
  stats.memory_held = 0;
  uses = memory_uses({{"", stats}}, {}, BufferPool::shared().stats(), {.pss = idle.pss + static_cast<uint64_t>(all)},
                     idle);
  EXPECT_LT(static_cast<double>(explained_bytes(uses)), 0.9 * all) << "control: without one of its rows it does not";
}

}  // namespace
}  // namespace headpond
