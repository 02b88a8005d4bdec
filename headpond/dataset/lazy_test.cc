// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/lazy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "headpond/base/thread.h"

namespace headpond {
namespace {

TEST(Lazy, AKnownValueIsThereAtOnce) {
  EXPECT_TRUE(Lazy<int>().is_known());
  EXPECT_EQ(Lazy<int>().get(), 0);
  EXPECT_EQ(Lazy<std::string>("x").get(), "x");
}

TEST(Lazy, IsComputedOnceForAllCopies) {
  int calls = 0;
  const Lazy<int> first([&] { return ++calls; });
  const Lazy<int> copy = first;
  EXPECT_FALSE(copy.is_known());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(copy.get(), 1);
  EXPECT_TRUE(first.is_known());
  EXPECT_EQ(first.get(), 1);
}

TEST(Lazy, IsComputedAgainAfterAnException) {
  int calls = 0;
  const Lazy<int> lazy([&] { return ++calls == 1 ? throw std::runtime_error("not yet") : calls; });
  EXPECT_THROW((void)lazy.get(), std::runtime_error);
  EXPECT_FALSE(lazy.is_known());
  EXPECT_EQ(lazy.get(), 2);
}

TEST(Lazy, ThenFollowsAtOnceOnlyIfTheValueIsKnown) {
  const auto half = [](int x) { return x % 2 == 0 ? x / 2 : throw std::runtime_error("odd"); };
  EXPECT_EQ(Lazy<int>(8).then(half).get(), 4);
  EXPECT_THROW(Lazy<int>(7).then(half), std::runtime_error);
  bool asked = false;
  const Lazy<int> later([&] {
    asked = true;
    return 7;
  });
  const Lazy<int> followed = later.then(half);
  EXPECT_FALSE(asked);
  EXPECT_THROW((void)followed.get(), std::runtime_error);
  EXPECT_TRUE(asked);
}

TEST(Lazy, ManyThreadsComputeItOnce) {
  std::atomic<int> calls = 0, sum = 0;
  const Lazy<int> lazy([&] {
    hand_over_point();
    return ++calls;
  });
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back("asks", [&] { sum += lazy.get(); });
  }
  EXPECT_EQ(sum, 8);
}

}  // namespace
}  // namespace headpond
