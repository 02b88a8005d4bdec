// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "headpond/queue/sync/holder_check_internal.h"

namespace headpond {
namespace {

TEST(HolderChecks, AllowOneThreadAfterTheOther) {
  HolderCheck check;
  check.enter();
  check.leave();
  std::thread([&] {
    check.enter();
    check.leave();
  }).join();
}

#if !defined(NDEBUG)

TEST(HolderChecksDeathTest, EndTheProgramWhenTwoThreadsAreInside) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        HolderCheck check;
        check.enter();
        std::thread([&] { check.enter(); }).join();
      },
      "two threads hold one lock");
}

TEST(HolderChecksDeathTest, EndTheProgramWhenAThreadLeavesWhatAnotherHolds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        HolderCheck check;
        check.enter();
        std::thread([&] { check.leave(); }).join();
      },
      "does not hold");
}

#endif

}  // namespace
}  // namespace headpond
