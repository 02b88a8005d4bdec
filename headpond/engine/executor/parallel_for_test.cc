// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/executor/parallel_for.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "headpond/base/cpu.h"
#include "headpond/base/mutex.h"
#include "headpond/base/system/cpu_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

TEST(ParallelFor, CallsEachOnce) {
  for (const int threads : {0, 1, 3, 16}) {
    for (const int64_t count : {0, 1, 15, 16, 17, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      parallel_for(threads, count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& once : calls) EXPECT_EQ(once, 1);
    }
  }
}

TEST(ParallelFor, UsesNoMoreThreadsThanAskedFor) {
  Mutex mu;
  std::set<std::thread::id> seen;
  parallel_for(3, 1000, [&](int64_t) {
    const MutexLock lock(mu);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 3U);
  seen.clear();
  parallel_for(1, 100, [&](int64_t) { seen.insert(std::this_thread::get_id()); });
  EXPECT_THAT(seen, testing::ElementsAre(std::this_thread::get_id()));
}

TEST(ParallelFor, RunsFewLongCallsAtOnce) {
  std::latch all_run(3);
  parallel_for(3, 3, [&](int64_t) { all_run.arrive_and_wait(); });
}

TEST(ParallelFor, StartsAllThreadsForLongCalls) {
  std::latch all_run(16);
  EXPECT_EQ(parallel_for(16, 16, [&](int64_t) { all_run.arrive_and_wait(); }), 16);
}

void spin_a_microsecond(int64_t) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// On a busy machine a thread may have no processor, and its calls seem long: a try is so short that most have one.
// `few`: threads that are expected.
int least_threads(int few) {
  int least = 16;
  for (int tries = 0; tries < 100 && least > few; ++tries)
    least = std::min(least, parallel_for(16, 2'000, spin_a_microsecond));
  return least;
}

// One more than processors looks whether calls are long.
TEST(ParallelFor, StartsFewThreadsForShortCalls) {
  const int few = cpu_count() + 1;
  if (few >= 16) GTEST_SKIP() << "with so many processors all threads are few";
  EXPECT_LE(least_threads(few), few);
}

TEST(ParallelFor, StartsFewerWhereTheControlGroupHasAQuota) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "one processor is as few as a quota of one";
  for (const auto version : {cpu_internal::CgroupVersion::v1, cpu_internal::CgroupVersion::v2}) {
    const test::TempFolder groups;
    const cpu_internal::CpuQuota quota(groups.path(), version, 100'000, 100'000);
    EXPECT_EQ(cpu_count(), 1);
    EXPECT_LE(least_threads(2), 2);
  }
}

TEST(ParallelFor, ThrowsTheFirstExceptionAfterAllCalls) {
  std::atomic<int> calls = 0;
  const auto each = [&](int64_t i) {
    ++calls;
    if (i % 100 == 57) throw std::runtime_error(std::to_string(i));
  };
  EXPECT_THAT([&] { parallel_for(4, 1000, each); }, testing::ThrowsMessage<std::runtime_error>("57"));
  EXPECT_EQ(calls, 1000);
}

}  // namespace
}  // namespace headpond::internal
