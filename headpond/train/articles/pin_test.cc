// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/pin.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace headpond {
namespace {

using Cpus = std::vector<int>;

TEST(Pin, ScopeHoldsThisThreadOnOneCpuAndThenLetsGo) {
  const Cpus all = allowed_cpus();
  ASSERT_FALSE(all.empty());
  {
    PinnedScope scope({all.back()});
    EXPECT_EQ(allowed_cpus(), Cpus{all.back()});
    EXPECT_EQ(sched_getcpu(), all.back());
  }
  EXPECT_EQ(allowed_cpus(), all);
}

TEST(Pin, ThreadsStartedInsideInheritIt) {
  const Cpus all = allowed_cpus();
  PinnedScope scope({all.front()});
  Cpus seen;
  std::thread([&] { seen = allowed_cpus(); }).join();
  EXPECT_EQ(seen, Cpus{all.front()});
}

TEST(Pin, CpusThatDoNotExistChangeNothing) {
  const Cpus all = allowed_cpus();
  PinnedScope nothing((Cpus()));
  EXPECT_EQ(allowed_cpus(), all);
  PinnedScope unknown({1000, -1});
  EXPECT_EQ(allowed_cpus(), all);
}

TEST(Pin, TrainerGetsItsCpusAndProducersTheRest) {
  const CpuShares shares = share_cpus({2, 3, 5}, 1);
  EXPECT_EQ(shares.trainer, Cpus{2});
  EXPECT_EQ(shares.producers, (Cpus{3, 5}));
}

TEST(Pin, ProducersShareWhenTheTrainerHasEverything) {
  const CpuShares both = share_cpus({0, 1}, 7);
  EXPECT_EQ(both.trainer, (Cpus{0, 1}));
  EXPECT_EQ(both.producers, (Cpus{0, 1}));
  EXPECT_EQ(share_cpus({4}, 1).producers, Cpus{4});
  EXPECT_EQ(share_cpus({4, 6}, 0).trainer, Cpus{4});
}

}  // namespace
}  // namespace headpond
