// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/vector/vector_targets.h"

#include <gmock/gmock.h>
#include <hwy/highway.h>

#include <set>

namespace headpond {
namespace {

TEST(VectorTargets, AreThoseOfTheMachineTheBestFirst) {
  const auto places = vector_target_places(HWY_TARGETS);
  std::set<size_t> seen;
  for (const VectorTargetPlace& place : places) EXPECT_TRUE(seen.insert(place.place).second) << place.name;
  EXPECT_THAT(vector_target_places(0), testing::IsEmpty());
  if (!places.empty()) {
    EXPECT_EQ(places.front().place, *seen.begin()) << "better targets stand first in Highway's tables";
  }
}

TEST(VectorTargets, TheOnlyTargetStandsFirstInItsTable) {
  const int64_t usable = hwy::SupportedTargets() & (HWY_TARGETS) & ~int64_t{HWY_SCALAR | HWY_EMU128};
  const int table[] = {7, 8};
  for (int64_t rest = usable; rest != 0; rest &= rest - 1) {
    const auto targets = vector_targets(table, rest & -rest);
    ASSERT_EQ(targets.size(), 1U);
    EXPECT_EQ(targets.front().code, 7) << targets.front().name;
  }
  EXPECT_EQ(vector_target_places(HWY_TARGETS).empty(), usable == 0);
}

}  // namespace
}  // namespace headpond
