// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/stages/hold_back_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMs = 1'000'000;

// Ten times: 50 rows end, one each millisecond, then 20 more while none is begun, one each `held_ms`.
bool costs_nothing(int64_t held_ms) {
  HoldBack hold_back;
  int64_t now = kMs;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 50; ++i) hold_back.row_ended(false, now += kMs);
    for (int i = 0; i < 20; ++i) hold_back.row_ended(true, now += held_ms * kMs);
  }
  hold_back.row_ended(false, now + held_ms * kMs);
  return hold_back.costs_nothing();
}

TEST(HoldBack, CostsNothingWhereRowsEndAtTheSameRate) {
  EXPECT_TRUE(costs_nothing(1));
  EXPECT_FALSE(costs_nothing(10)) << "control: they wait for answers, each for itself";
  EXPECT_TRUE(HoldBack().costs_nothing()) << "nothing is known";
}

TEST(HoldBack, TimeInWhichNoRowIsMadeDoesNotCount) {
  for (const bool others_run : {false, true}) {
    HoldBack hold_back;
    int64_t now = kMs;
    for (int i = 0; i < 50; ++i) hold_back.row_ended(false, now += kMs);
    for (int i = 0; i < 50; ++i) hold_back.row_ended(true, now += kMs, i < 49 || others_run);
    hold_back.row_ended(false, now + 1000 * kMs);
    EXPECT_EQ(hold_back.costs_nothing(), !others_run);
  }
}

TEST(HoldBack, AMomentTellsNothing) {
  HoldBack hold_back;
  for (int i = 1; i < 100; ++i) hold_back.row_ended(false, i * kMs / 10);
  hold_back.row_ended(true, 10 * kMs);
  hold_back.row_ended(false, 20 * kMs);
  EXPECT_TRUE(hold_back.costs_nothing());
}

}  // namespace
}  // namespace headpond::internal
