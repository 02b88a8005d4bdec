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
  if (places.empty()) GTEST_SKIP() << "no vectors here";
  EXPECT_EQ(places.front().place, *seen.begin()) << "better targets stand first in Highway's tables";
}

TEST(VectorTargets, TheOnlyTargetStandsFirstInItsTable) {
  const int64_t only = HWY_STATIC_TARGET;
  const auto places = vector_target_places(only);
  if (places.empty()) GTEST_SKIP() << "no vectors here";
  EXPECT_EQ(places.front().place, 0U);
  const int table[] = {7, 8};
  EXPECT_EQ(vector_targets(table, only).front().code, 7);
}

}  // namespace
}  // namespace headpond
