// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/executor/shared_threads_internal.h"

namespace headpond::internal {
namespace {

struct SharedThreadsOfTwo : testing::Test {
  std::shared_ptr<SharedThreads> all = std::make_shared<SharedThreads>(2);
  SharedThreads::Member one{all}, two{all};
};

TEST_F(SharedThreadsOfTwo, NeverMoreThanThereAre) {
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_TRUE(two.try_take(Urgency::ahead));
  EXPECT_FALSE(one.try_take(Urgency::ahead));
  two.give_back();
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_EQ(all->running(), 2);
}

TEST_F(SharedThreadsOfTwo, WhatIsAwaitedComesBeforeWorkAhead) {
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_FALSE(two.try_take(Urgency::awaited));
  one.give_back();
  EXPECT_FALSE(one.try_take(Urgency::ahead)) << "it is for the other one";
  EXPECT_TRUE(two.try_take(Urgency::awaited));
  two.give_back();
  EXPECT_TRUE(one.try_take(Urgency::ahead)) << "control: nobody wants more now";
}

TEST_F(SharedThreadsOfTwo, AWishThatIsWithdrawnHoldsNobodyUp) {
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_FALSE(two.try_take(Urgency::awaited));
  two.withdraw();
  one.give_back();
  EXPECT_TRUE(one.try_take(Urgency::idle));
}

TEST_F(SharedThreadsOfTwo, TheOneThatWasCalledLastIsNotIdle) {
  EXPECT_EQ(one.urgency(false), Urgency::idle);
  one.arrive();
  EXPECT_EQ(one.urgency(false), Urgency::ahead);
  two.arrive();
  EXPECT_EQ(one.urgency(false), Urgency::idle);
  EXPECT_EQ(one.urgency(true), Urgency::awaited);
}

TEST_F(SharedThreadsOfTwo, AProcessorIsLeftToTheProgram) {
  one.arrive();
  two.leave_one(true);
  EXPECT_TRUE(two.try_take(Urgency::idle));
  EXPECT_TRUE(two.try_take(Urgency::idle)) << "control: only the one that was called last knows the program";
  two.give_back();
  one.leave_one(true);
  EXPECT_FALSE(two.try_take(Urgency::idle));
  one.leave_one(false);
  EXPECT_TRUE(two.try_take(Urgency::idle));
}

TEST_F(SharedThreadsOfTwo, AbandonedThreadsCountNoMore) {
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  EXPECT_TRUE(one.try_take(Urgency::ahead));
  one.abandon();
  EXPECT_EQ(all->running(), 0);
  EXPECT_TRUE(two.try_take(Urgency::ahead));
  one.give_back();
  EXPECT_EQ(all->running(), 1) << "it returned in the end";
}

}  // namespace
}  // namespace headpond::internal
