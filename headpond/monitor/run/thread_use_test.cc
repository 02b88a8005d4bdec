// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/thread_use.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <ctime>

#include "headpond/base/thread.h"

namespace headpond::internal {
namespace {

TEST(ThreadStat, IsReadFromALine) {
  const std::string numbers = " S 1 2 3 4 5 6 7 8 77 10 250 50 0 0 20 0 3";
  const auto stat = thread_stat_of("4711 (a (b) c/12)" + numbers, 0.01);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a (b) c/12");
  EXPECT_EQ(stat->major_faults, 77);
  EXPECT_DOUBLE_EQ(stat->cpu_s, 3);
  EXPECT_FALSE(thread_stat_of("4711 (a) S 1 2 3", 0.01));
  EXPECT_FALSE(thread_stat_of("4711 a S 1", 0.01));
  EXPECT_FALSE(thread_stat_of("", 0.01));
}

double own_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void compute(double seconds) {
  for (const double end = own_cpu_s() + seconds; own_cpu_s() < end;) {
  }
}

ThreadUse of(const ThreadUses& uses, const std::string& name) {
  const std::vector<ThreadUse> all = uses.uses();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ThreadUse& one) { return one.name == name; });
  return found != all.end() ? *found : ThreadUse();
}

TEST(ThreadUses, AddsUpThreadsOfOneNameSinceTheFirstLook) {
  ThreadUses uses;
  std::atomic<int> stage = 0;
  const auto await = [&stage](int wanted) {
    for (int now = stage; now < wanted; now = stage) stage.wait(now);
  };
  const auto advance = [&stage] {
    ++stage;
    stage.notify_all();
  };
  Thread early("early", [&] {
    compute(0.1);
    advance();
    await(4);
  });
  await(1);
  uses.look();
  {
    Thread first("spins/0", [&] {
      compute(0.1);
      advance();
      await(4);
    });
    Thread second("spins/17", [&] { advance(), await(4); });
    await(3);
    uses.look();
    const ThreadUse spins = of(uses, "spins/");
    EXPECT_EQ(spins.threads, 2);
    EXPECT_NEAR(spins.cpu_s, 0.1, 0.04) << "the system counts in steps of 10 ms";
    EXPECT_LT(of(uses, "early").cpu_s, 0.05) << "before the first look";
    EXPECT_EQ(uses.uses().front().name, "spins/") << "most first";
    advance();
  }
  early.join();
  uses.look();
  EXPECT_EQ(of(uses, "spins/").threads, 0);
  EXPECT_NEAR(of(uses, "spins/").cpu_s, 0.1, 0.04) << "what those took that ended stays";
}

}  // namespace
}  // namespace headpond::internal
