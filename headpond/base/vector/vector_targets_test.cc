// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/vector/vector_targets.h"

#include <gmock/gmock.h>
#include <hwy/highway.h>

#include <set>

namespace headpond {
namespace {

TEST(VectorTargets, AreThoseOfTheMachineTheBestFirst) {
  const auto indices = vector_target_indices(HWY_TARGETS);
  std::set<size_t> seen;
  for (const VectorTargetIndex& one : indices) EXPECT_TRUE(seen.insert(one.index).second) << one.name;
  EXPECT_THAT(vector_target_indices(0), testing::IsEmpty());
  if (!indices.empty()) {
    EXPECT_EQ(indices.front().index, *seen.begin()) << "better targets stand first in Highway's tables";
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
  EXPECT_EQ(vector_target_indices(HWY_TARGETS).empty(), usable == 0);
}

TEST(VectorTargets, GiveTheBestCodeOrTheTwin) {
  const std::vector<VectorTarget<int>> none, two = {{"AVX9", 9}, {"AVX8", 8}};
  EXPECT_EQ(best_code(two, 1), 9);
  EXPECT_EQ(best_code(none, 1), 1);
  EXPECT_THAT(names_of(two), testing::ElementsAre("AVX9", "AVX8"));
  EXPECT_THAT(names_of(none), testing::IsEmpty());
}

TEST(VectorTargets, GiveTheCodeOfOneByItsName) {
  const std::vector<VectorTarget<int>> two = {{"AVX9", 9}, {"AVX8", 8}};
  EXPECT_EQ(code_of(two, "AVX8"), 8);
  try {
    (void)code_of(two, "AVX");
    FAIL() << "no target has this name";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_EQ(exception.error().message(), "no code for AVX on this machine");
  }
}

}  // namespace
}  // namespace headpond
