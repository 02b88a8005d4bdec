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

TEST(OwnMemory, CopiesWhatIsBorrowed) {
  std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> few = {1, 2};
  const std::vector<std::string_view> texts = {"one", "two"};
  const Tensor owned = Tensor::from(std::span<const std::string_view>(texts), {2});
  std::vector<std::byte> layout(owned.data(), owned.data() + owned.byte_size());
  Element element = {Tensor::view(values.data(), DType::i32, {6}), Tensor::view(few.data(), DType::i32, {2}),
                     Tensor::view(layout.data(), DType::bytes, {2}), Tensor(), owned};
  const std::string before = text_of(element);
  own_memory(element);
  std::fill(values.begin(), values.end(), 0);
  std::fill(few.begin(), few.end(), 0);
  std::fill(layout.begin(), layout.end(), std::byte{0});
  EXPECT_EQ(text_of(element), before);
  EXPECT_EQ(element[size_t{4}].owner(), owned.owner()) << "what has an owner is shared";
}

}  // namespace
}  // namespace headpond::internal
