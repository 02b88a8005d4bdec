// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/stages/any_order_internal.h"

namespace headpond::internal {
namespace {

std::string saved(const AnyOrder& order) {
  StateVisitor visitor;
  order.save(visitor);
  return visitor.saved();
}

TEST(AnyOrder, ItsPositionIsAfterTheLastItemBeforeTheFirstGap) {
  AnyOrder order;
  order.begin("begin");
  order.give(1, "after 1");
  order.give(3, "after 3");
  EXPECT_EQ(order.position(), "begin");
  order.give(0, "after 0");
  EXPECT_EQ(order.position(), "after 1");
  order.give(2, "after 2");
  EXPECT_EQ(order.position(), "after 3");
  EXPECT_EQ(saved(order), "") << "nothing was delivered early";
}

TEST(AnyOrder, ARestoredOneKnowsWhatWasGivenAfterThePosition) {
  AnyOrder order;
  order.give(0, "");
  order.give(2, "");
  order.give(4, "");
  const std::string state = saved(order);
  AnyOrder restored;
  StateVisitor visitor = StateVisitor::restoring(state);
  restored.restore(visitor);
  EXPECT_TRUE(visitor.complete());
  for (int64_t ordinal = 0; ordinal < 6; ++ordinal) {
    EXPECT_EQ(restored.was_given(ordinal), ordinal == 1 || ordinal == 3) << ordinal << " from the position on";
  }
  EXPECT_EQ(saved(restored), state) << "the same again before anything is given";
  restored.give(0, "");
  restored.give(1, "");
  EXPECT_FALSE(restored.was_given(1)) << "known no longer, once the position is after it";
}

TEST(AnyOrder, RefusesWhatIsDamaged) {
  for (const std::string& bad : {std::string("\x04\x02"), std::string("\x01\x02"), std::string("\x02\x01")}) {
    AnyOrder order;
    StateVisitor visitor = StateVisitor::restoring(bad);
    order.restore(visitor);
    EXPECT_FALSE(visitor.complete());
  }
}

}  // namespace
}  // namespace headpond::internal
