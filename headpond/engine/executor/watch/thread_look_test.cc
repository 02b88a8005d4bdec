// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <semaphore>

#include "headpond/base/thread.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

// What a thread that runs `body` is seen to do, if it is ever `expected`.
template <class Body>
bool is_seen(Doing expected, Body body) {
  std::atomic<int> id = 0;
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    id = this_thread_id();
    while (!stop) body();
  });
  const bool seen = becomes_true([&] { return id != 0 && doing_of(id) == expected; });
  stop = true;
  thread.join();
  return seen;
}

TEST(ThreadLook, SeesWhatAThreadIsBlockedIn) {
  if (doing_of(this_thread_id()) == Doing::unknown) GTEST_SKIP() << "the system does not say";
  EXPECT_TRUE(is_seen(Doing::sleeps, [] { pause_ms(1); }));
  EXPECT_TRUE(is_seen(Doing::runs, [] { busy_us(1000); })) << "control";
  std::binary_semaphore closed{0};
  EXPECT_TRUE(is_seen(Doing::locked, [&] { (void)closed.try_acquire_for(std::chrono::milliseconds(20)); }));
}

TEST(ThreadLook, KnowsNothingOfAThreadThatIsNotThere) {
  EXPECT_EQ(doing_of(0x7ffffff), Doing::unknown);
  EXPECT_EQ(cpu_ns_of(0x7ffffff), 0);
}

TEST(ThreadLook, CountsTheProcessorTimeOfThreads) {
  const int64_t own = thread_cpu_ns(), by_id = cpu_ns_of(this_thread_id()), all = process_cpu_ns();
  EXPECT_GE(by_id, own);
  EXPECT_GE(all, by_id);
  EXPECT_TRUE(becomes_true([&] {
    busy_us(100);
    return cpu_ns_of(this_thread_id()) > by_id && thread_cpu_ns() > own && process_cpu_ns() > all;
  }));
  std::thread([] {
    const int64_t own_before = thread_cpu_ns();
    EXPECT_LE(own_before, cpu_ns_of(this_thread_id())) << "each thread has its own";
  }).join();
}

TEST(ThreadLook, TheSystemsPartOfTheProcesssTimeGrowsWithCalls) {
  const int64_t before = process_system_ns();
  EXPECT_TRUE(becomes_true([&] {
    for (int i = 0; i < 1'000; ++i) (void)getppid();
    return process_system_ns() > before;
  }));
  const int64_t now = process_system_ns();
  EXPECT_LE(now, process_cpu_ns() + 20'000'000) << "a part of it, but for a tick";
}

TEST(ThreadLook, TheProcesssTimeHasAllOfTheThreadsThatWereAskedBefore) {
  std::atomic<int> id = 0;
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    id = this_thread_id();
    while (!stop) {
    }
  });
  ASSERT_TRUE(becomes_true([&] { return id != 0; }));
  int lacks = 0, lacks_if_asked_first = 0;
  for (int i = 0; i < 100; ++i) {
    pause_ms(1);
    const int64_t first = process_cpu_ns(), threads = cpu_ns_of(id) + thread_cpu_ns(), after = process_cpu_ns();
    lacks += after < threads;
    lacks_if_asked_first += first + 20'000 < threads;
  }
  stop = true;
  thread.join();
  EXPECT_EQ(lacks, 0);
  if (lacks_if_asked_first == 0) std::puts("no control: this system's clock of the process is always right");
}

TEST(ThreadLook, AddsUpWhatWasSeen) {
  SeenDoing seen;
  for (const Doing what : {Doing::locked, Doing::runs, Doing::locked, Doing::unknown}) seen.add(what);
  EXPECT_EQ(seen.locked, 2);
  EXPECT_EQ(seen.blocked(), 2);
  EXPECT_EQ(seen.all(), 4);
}

}  // namespace
}  // namespace headpond::internal
