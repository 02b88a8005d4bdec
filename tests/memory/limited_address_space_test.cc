// SPDX-License-Identifier: Apache-2.0
// Threads where the address space of the process is limited, and as a control where it is not.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/system/address_space.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/io/memory_test_internal.h"

namespace headpond {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kArena = 64 * kMiB;

int64_t mapped_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// What malloc and the stacks of so many threads take while all of them are there, and each has memory.
int64_t taken_by_threads(int count) {
  const int64_t before = mapped_bytes();
  std::barrier all(count + 1);
  std::vector<Thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back("allocates", [&] {
      void* volatile piece = std::malloc(1000);
      all.arrive_and_wait();
      all.arrive_and_wait();
      std::free(piece);
    });
  }
  all.arrive_and_wait();
  const int64_t taken = mapped_bytes() - before;
  all.arrive_and_wait();
  return taken;
}

// In a process without threads so far, as this is the only suite of its program.
[[noreturn]] void exit_with_arenas_of_threads(bool is_limited) {
  constexpr int kThreads = 12;
  unsetenv("MALLOC_ARENA_MAX");
  unsetenv("GLIBC_TUNABLES");
  if (is_limited) test::limit_memory_to_present_and(512 * kMiB);
  const int64_t stacks = kThreads * static_cast<int64_t>(internal::thread_stack_bytes());
  _exit(static_cast<int>((taken_by_threads(kThreads) - stacks) / kArena));
}

TEST(LimitedAddressSpace, ThreadsShareTheArenasOfMalloc) {
  EXPECT_EXIT(exit_with_arenas_of_threads(true), testing::ExitedWithCode(0), "");
  const auto is_several = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) >= 5; };
  EXPECT_EXIT(exit_with_arenas_of_threads(false), is_several, "") << "control: no limit";
}

constexpr int kFailed = -1;

// The most calls of a function that waits at once; ends the run when there are more than `enough`. kFailed: the run
// has.
int most_at_once(int enough) {
  std::atomic<int> now = 0, most = 0;
  const auto waits = [&](int64_t x) {
    const int others = ++now;
    int seen = most;
    while (seen < others && !most.compare_exchange_weak(seen, others)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    --now;
    return x;
  };
  Loader loader(range(300) | map(waits, {.blocking = true}), {.threads = 2});
  while (most <= enough) {
    const auto element = loader.next();
    if (!element && !element.error().is_end()) return kFailed;
    if (!element) break;
  }
  return most;
}

[[noreturn]] void exit_with_io_threads(bool is_limited) {
  rlimit before = {};
  if (getrlimit(RLIMIT_AS, &before) != 0) _exit(2);
  test::limit_memory_to_present_and(128 * kMiB);
  const int few = internal::threads_with_stacks(256);
  if (!is_limited && setrlimit(RLIMIT_AS, &before) != 0) _exit(2);
  const int most = most_at_once(few);
  _exit(most < 2 ? 3 : most <= few ? 0 : 4);
}

TEST(LimitedAddressSpace, IoThreadsHaveTheirStacksInAQuarter) {
  EXPECT_EXIT(exit_with_io_threads(true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_with_io_threads(false), testing::ExitedWithCode(4), "") << "control: no limit";
}

}  // namespace
}  // namespace headpond
