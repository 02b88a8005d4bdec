// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/explain.h"

#include "headpond/dataset/dataset_test_internal.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int64_t same(int64_t x) { return x; }
bool any(int64_t) { return true; }

std::vector<std::string> levels(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const Level& level : explain(dataset).levels) all.push_back(level.how + ": " + level.what);
  return all;
}

std::vector<std::string> rewrites(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const Rewrite& rewrite : explain(dataset).rewrites) {
    EXPECT_FALSE(rewrite.reason.empty());
    all.push_back((rewrite.applied ? "+" : "-") + rewrite.rule);
  }
  return all;
}

TEST(Explain, TellsTheLevelsFromTheSourcesToTheProgram) {
  EXPECT_THAT(levels(range(9) | map(&same) | batch(2)), ElementsAre("rows in place: range|map|batch"));
  EXPECT_THAT(levels(range(9) | filter(&any) | take(3) | batch(2)),
              ElementsAre("positions: range|filter", "in order: take", "run ahead: batch"));
  EXPECT_THAT(levels(zip({range(9) | filter(&any), range(5) | batch(1)})),
              ElementsAre("positions: range|filter", "rows in place: range|batch", "in order: zip"));
}

TEST(Explain, SaysOfEachRewriteWhyOrWhyNot) {
  EXPECT_THAT(rewrites(range(9) | map(&same) | map(&same) | shuffle() | take(4)),
              ElementsAre("+fuse maps: map over map", "+shuffle below map: shuffle over map"));
  EXPECT_THAT(rewrites(range(9) | map(&same) | skip(1)), ElementsAre("+skip below map: skip over map"));
  EXPECT_THAT(rewrites(range(9) | filter(&any) | take(4)), ElementsAre("-take below map: take over filter"));
  EXPECT_THAT(rewrites(range(9) | map(&same) | map(&same, {.blocking = true})),
              ElementsAre("-fuse maps: map over map"));
  EXPECT_THAT(rewrites(range(9) | cache() | map(&same)), ElementsAre("-map over cache"));
}

TEST(Explain, ReadsAsAPage) {
  const std::string page = explain(range(9) | map(&same) | batch(3, {.drop_remainder = true})).to_string();
  EXPECT_THAT(page, HasSubstr("rows in place: range|map|batch"));
  EXPECT_THAT(page, HasSubstr("range(start=0, stop=9, step=1)"));
  EXPECT_THAT(page, HasSubstr("an element takes 24 bytes"));
}

}  // namespace
}  // namespace headpond
