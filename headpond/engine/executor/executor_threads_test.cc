// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "headpond/base/cpu.h"
#include "headpond/base/thread.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

using testing::Each;
using testing::StartsWith;

// Names of threads that called a function, with the processors that each may
// run on.
struct Callers {
  std::mutex mu;
  std::map<std::string, std::vector<int>> seen;
  void note() {
    const std::lock_guard lock(mu);
    seen[this_thread_name()] = allowed_cpus();
  }
  std::vector<std::string> names() {
    const std::lock_guard lock(mu);
    std::vector<std::string> all;
    for (const auto& [name, cpus] : seen) all.push_back(name);
    return all;
  }
};
auto noting(const std::shared_ptr<Callers>& callers) {
  return [callers](int64_t x) {
    callers->note();
    std::this_thread::yield();
    return x;
  };
}

std::map<std::string, std::vector<int>> workers_of(int threads) {
  const auto callers = std::make_shared<Callers>();
  const auto crowd = std::make_shared<Crowd>();
  const Dataset dataset = range(200) | map([callers, crowd, threads](int64_t x) {
                            callers->note();
                            if (x < threads) crowd->meet(threads);
                            return x;
                          });
  EXPECT_EQ(loaded(dataset, {.threads = threads, .consumer_helps = false}).size(), 200U);
  return callers->seen;
}

TEST(ExecutorThreads, HaveNamesAndAProcessorEachIfTheyMayUseAll) {
  const std::vector<int> all = allowed_cpus();
  std::map<int, int> pinned;
  for (const auto& [name, cpus] : workers_of(static_cast<int>(all.size()))) {
    EXPECT_THAT(name, testing::MatchesRegex("headpond/[0-9]+"));
    ASSERT_EQ(cpus.size(), 1U) << name;
    ++pinned[cpus[0]];
  }
  EXPECT_EQ(pinned.size(), all.size()) << "one on each";
  for (const auto& [name, cpus] : workers_of(static_cast<int>(all.size()) + 1)) {
    EXPECT_EQ(cpus, all) << "control: with more threads than processors none is pinned";
  }
  EXPECT_EQ(allowed_cpus(), all) << "the program's own thread is left alone";
}

// A step of a millisecond.
void compute() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (std::chrono::steady_clock::now() < until) {
  }
}

// Whether its workers go free of their processors within so many steps.
bool become_free(int steps) {
  const std::vector<int> all = allowed_cpus();
  const auto free = std::make_shared<std::atomic<bool>>(false);
  const auto look = [free, all](int64_t x) {
    if (allowed_cpus() == all) *free = true;
    return x;
  };
  Loader loader(range(1 << 30) | map(look), {.threads = static_cast<int>(all.size()), .consumer_helps = false});
  for (int i = 0; i < steps && !*free; ++i) {
    EXPECT_TRUE(loader.next());
    compute();
  }
  return *free;
}

TEST(ExecutorThreads, HaveNoProcessorOfTheirOwnBesideAProgramThatComputesInOtherThreads) {
  if (allowed_cpus().size() == 1) GTEST_SKIP() << "needs two processors";
  EXPECT_FALSE(become_free(800)) << "control: the program's thread alone";
  std::atomic<bool> ends = false;
  std::vector<std::thread> others;  // So many that they have enough of the processors together on a busy machine, too.
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&] {
      while (!ends) compute();
    });
  }
  EXPECT_TRUE(become_free(30'000));
  ends = true;
  for (std::thread& other : others) other.join();
}

TEST(ExecutorThreads, WhatWaitsRunsOnThreadsForThat) {
  const auto waiting = std::make_shared<Callers>();
  const auto computing = std::make_shared<Callers>();
  const auto waits = [waiting](int64_t x) {
    waiting->note();
    pause_ms(1);
    return x;
  };
  const Dataset dataset = range(40) | map(waits, {.blocking = true}) | map(noting(computing)) | batch(2);
  Loader loader(dataset, {.threads = 2, .io_threads = 3, .consumer_helps = false});
  EXPECT_EQ(rest_of(loader).size(), 20U);
  EXPECT_THAT(waiting->names(), Each(StartsWith("headpond/io")));
  EXPECT_THAT(computing->names(), Each(testing::MatchesRegex("headpond/[0-9]+")));
  EXPECT_GE(loader.stats().io_threads, 1);
  EXPECT_LE(loader.stats().io_threads, 3);

  Loader none(range(40) | map(noting(computing)) | batch(2), {.threads = 2});
  EXPECT_EQ(rest_of(none).size(), 20U);
  EXPECT_EQ(none.stats().io_threads, 0) << "control: nothing waits";
}

TEST(ExecutorThreads, WhatWaitsWithoutSayingSoIsNoticed) {
  const auto sleeping = [](int64_t x) {
    pause_ms(2);
    return x;
  };
  const auto computing = [](int64_t x) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < until) {
    }
    return x;
  };
  Loader sleeps(range(1 << 30) | map(sleeping), {.threads = 2});
  EXPECT_TRUE(becomes_true([&] { return sleeps.next() && sleeps.stats().stages.at(0).blocking; }));
  EXPECT_TRUE(becomes_true([&] { return sleeps.next() && sleeps.stats().io_threads > 0; }));
  Loader computes(range(1 << 30) | map(computing), {.threads = 2});
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(computes.next());
  EXPECT_FALSE(computes.stats().stages.at(0).blocking) << "control: what computes for long does not wait";
}

// Most of the time of its tasks is a wait, though most tasks do not wait. The control waits for a fifth of its time.
TEST(ExecutorThreads, AFunctionThatSeldomWaitsForLongGetsIoThreads) {
  const auto waiting = [](int64_t period, int64_t computing_us) {
    return range(1'000'000) | map([=](int64_t x) {
             if (x % period == period - 1) {
               pause_ms(10);
               return x;
             }
             const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(computing_us);
             while (std::chrono::steady_clock::now() < until) {
             }
             return x;
           }) |
           batch(16);
  };
  Loader seldom(waiting(64, 0), {.threads = 2});
  EXPECT_TRUE(becomes_true([&] { return seldom.next() && seldom.stats().stages.at(0).blocking; }));
  Loader control(waiting(400, 100), {.threads = 2});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(control.next());
    ASSERT_FALSE(control.stats().stages.at(0).blocking) << i;
  }
}

int64_t threads_of_loaders() {
  int64_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name.starts_with("headpond/") ? 1 : 0;
  }
  return count;
}

TEST(ExecutorThreads, NoneMeansNotASingleThread) {
  ASSERT_TRUE(becomes_true([] { return threads_of_loaders() == 0; })) << "those of tests before are gone";
  for (const int threads : {0, 2}) {
    const auto callers = std::make_shared<Callers>();
    const Dataset dataset = range(20) | map(noting(callers), {.blocking = true}) | map(noting(callers)) | batch(2);
    Loader loader(dataset, {.epochs = 2, .threads = threads});
    for (int i = 0; i < 15; ++i) ASSERT_TRUE(loader.next());
    if (threads == 0) {
      EXPECT_EQ(threads_of_loaders(), 0);
      EXPECT_THAT(callers->names(), testing::ElementsAre(this_thread_name()));
    } else {
      EXPECT_TRUE(becomes_true([] { return threads_of_loaders() >= 2; })) << "control";
    }
  }
}

// The thread that waited sees to it that somebody computes with what it
// brought.
TEST(ExecutorThreads, WhatArrivesIsComputedWithWhileTheProgramIsAway) {
  const auto gate = std::make_shared<Gate>();
  const auto brought = std::make_shared<Crowd>();
  const auto computed = std::make_shared<std::atomic<int>>(0);
  const auto bring = [gate, brought](int64_t x) {
    if (x > 0) brought->enter();
    if (x == 1) gate->pass();
    return x;
  };
  const auto compute = [computed](int64_t x) {
    ++*computed;
    return x;
  };
  Loader loader(range(4) | map(bring, {.blocking = true}) | map(compute), {.threads = 2});
  ASSERT_TRUE(loader.next());
  ASSERT_TRUE(becomes_true([&] { return brought->entered == 3; }));
  pause_ms(20);  // All others have come, and everybody sleeps.
  gate->open = true;
  EXPECT_TRUE(becomes_true([&] { return *computed == 4; }));
}

}  // namespace
}  // namespace headpond::internal
