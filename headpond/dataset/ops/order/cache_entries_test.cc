// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "headpond/dataset/ops/order/cache_entries_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

CacheEntry entry_of(int64_t value) { return {Got::value, {Tensor::scalar(value)}}; }

TEST(CacheEntries, FindsWhatItKeeps) {
  for (const int64_t slots : {int64_t{1}, int64_t{256}, int64_t{257}, int64_t{65537}, int64_t{1} << 40, INT64_MAX}) {
    CacheEntries cache(slots);
    for (const int64_t i : {int64_t{0}, slots / 2, slots - 1}) {
      if (cache.find(i) != nullptr) continue;
      const CacheEntry* const entry = cache.keep(i, entry_of(i));
      EXPECT_EQ(cache.find(i), entry);
      EXPECT_EQ(text_of(entry->element), fmt::format("{}", i));
    }
    EXPECT_EQ(cache.find(slots / 3) != nullptr, slots == 1);
  }
}

TEST(CacheEntries, TheFirstEntryStays) {
  CacheEntries cache(300);
  const CacheEntry* const first = cache.keep(299, entry_of(1));
  EXPECT_EQ(cache.keep(299, entry_of(2)), first);
  EXPECT_EQ(text_of(first->element), "1");
  EXPECT_EQ(cache.keep(3, {})->got, Got::hole);
}

TEST(CacheEntries, GivesAllThreadsTheSameEntry) {
  constexpr int64_t kSlots = 700;
  CacheEntries cache(kSlots);
  std::vector<std::vector<const CacheEntry*>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([&cache, &mine] {
        for (int64_t i = 0; i < kSlots; ++i) mine.push_back(cache.keep(i, entry_of(i)));
      });
    }
  }
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
}

}  // namespace
}  // namespace headpond::internal
