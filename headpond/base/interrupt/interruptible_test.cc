// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/interrupt/interruptible.h"

#include <gtest/gtest.h>

namespace headpond {
namespace {

TEST(Interruptible, AWaitForAConditionLooksWithoutTheMutex) {
  Mutex mu;
  CondVar never;
  int looks = 0;
  const InterruptLook look([&] {
    const bool is_free = mu.try_lock();
    EXPECT_TRUE(is_free);
    if (is_free) mu.unlock();
    return ++looks == 2;
  });
  MutexLock lock(mu);
  while (!is_interrupted()) internal::wait_and_look(never, mu);
  EXPECT_EQ(looks, 2);
}

TEST(Interruptible, ADeadlineBeforeTheNextLookIsKept) {
  Mutex mu;
  CondVar never;
  const InterruptLook look([] { return true; });
  MutexLock lock(mu);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  EXPECT_FALSE(internal::wait_and_look_until(never, mu, deadline));
  EXPECT_FALSE(is_interrupted());
}

}  // namespace
}  // namespace headpond
