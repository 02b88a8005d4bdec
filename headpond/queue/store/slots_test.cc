// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/store/slots_internal.h"

namespace headpond::internal {
namespace {

void write(Slots& slots, int64_t value) {
  std::memcpy(slots.write_slot(1), &value, sizeof(value));
  slots.advance_write();
}
int64_t read(Slots& slots, int64_t known = 1) {
  int64_t value = 0;
  std::memcpy(&value, slots.read_slot(known), sizeof(value));
  slots.advance_read();
  return value;
}

class SlotsOf : public Watched<::testing::TestWithParam<int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Capacities, SlotsOf, ::testing::Values(1, 3, 1024, 4096, 4097, 10000, -1));

TEST_P(SlotsOf, SlotsAreOnCacheLinesAndGoRound) {
  const int64_t capacity = GetParam();
  Slots slots(70, false, capacity);
  EXPECT_EQ(slots.stride(), 128U);
  const int64_t most = capacity < 0 ? 3000 : capacity;
  int64_t written = 0;
  int64_t taken = 0;
  for (int64_t round = 0; round < 6; ++round) {
    for (; written - taken < most; write(slots, written++)) {
      ASSERT_EQ(reinterpret_cast<uintptr_t>(slots.write_slot(1)) % 64, 0U);
    }
    for (const int64_t rest = round % 2 * (most / 2); written - taken > rest;) ASSERT_EQ(read(slots), taken++);
  }
}

TEST_P(SlotsOf, OneThreadWritesWhileAnotherReads) {
  Slots slots(GetParam() % 2 == 0 ? 64 : 24, true, GetParam());
  const int64_t most = GetParam() < 0 ? 5000 : GetParam();
  constexpr int64_t kCount = 30000;
  std::atomic<int64_t> written = 0;
  std::atomic<int64_t> taken = 0;
  std::thread writer([&] {
    for (int64_t i = 0; i < kCount; ++i) {
      while (i - taken.load(std::memory_order_acquire) >= most) std::this_thread::yield();
      write(slots, i);
      written.store(i + 1, std::memory_order_release);
    }
  });
  int64_t wrong = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    int64_t known = 0;
    while ((known = written.load(std::memory_order_acquire) - i) < 1) std::this_thread::yield();
    wrong += read(slots, known) == i ? 0 : 1;
    taken.store(i + 1, std::memory_order_release);
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace headpond::internal
