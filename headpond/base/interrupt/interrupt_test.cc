// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/interrupt/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

namespace headpond {
namespace {

TEST(Interrupt, AThreadWithoutALookHasNone) {
  EXPECT_EQ(interrupt_look(), nullptr);
  EXPECT_FALSE(look_for_interrupt());
  EXPECT_FALSE(is_interrupted());
}

TEST(Interrupt, OnceItIsThereItStaysAndNobodyAsksAgain) {
  int asked = 0;
  const InterruptLook look([&] { return ++asked == 2; });
  EXPECT_FALSE(look_for_interrupt());
  EXPECT_FALSE(is_interrupted());
  EXPECT_TRUE(look_for_interrupt());
  EXPECT_TRUE(look_for_interrupt());
  EXPECT_TRUE(is_interrupted());
  EXPECT_TRUE(look.was_interrupted());
  EXPECT_EQ(asked, 2);
}

TEST(Interrupt, OnlyTheInnermostLookOfTheThreadIsAsked) {
  const InterruptLook outer([] { return true; });
  {
    const InterruptLook inner([] { return false; });
    EXPECT_FALSE(look_for_interrupt());
  }
  std::thread([] { EXPECT_FALSE(look_for_interrupt()); }).join();
  EXPECT_TRUE(look_for_interrupt());
}

TEST(Interrupt, BetweenElementsOnlyALookThatSaysSoIsAsked) {
  const InterruptLook outer([] { return true; }, /*between_elements=*/true);
  EXPECT_TRUE(look_between_elements());
  const InterruptLook inner([] { return true; });
  EXPECT_FALSE(look_between_elements());
  EXPECT_FALSE(is_interrupted());
}

}  // namespace
}  // namespace headpond
