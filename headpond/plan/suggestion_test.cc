// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/suggestion.h"

#include <gtest/gtest.h>

namespace headpond::plan {
namespace {

TEST(Suggestion, IsCloseOrAll) {
  const std::vector<std::string> known = {"batch", "shuffle", "take"};
  EXPECT_EQ(suggestion("shufle", known), "; did you mean 'shuffle'?");
  EXPECT_EQ(suggestion("Batch", known), "; did you mean 'batch'?");
  EXPECT_EQ(suggestion("tkae", {"take", "top"}), "; did you mean 'take'?");
  EXPECT_EQ(suggestion("tpo", {"take", "top"}), "; did you mean 'top'?") << "two letters swapped are one slip";
  EXPECT_EQ(suggestion("pot", {"take", "top"}), "; known: take, top") << "two slips in three letters";
  EXPECT_EQ(suggestion("batch_size", known), "; did you mean 'batch'?");
  EXPECT_EQ(suggestion("interleave", known), "; known: batch, shuffle, take");
  EXPECT_EQ(suggestion("x", {}), "");
}

TEST(Suggestion, NamesNothingWhereNothingIsClose) {
  const std::vector<std::string> known = {"run", "explain", "train"};
  EXPECT_EQ(did_you_mean("trian", known), "; did you mean 'train'?");
  EXPECT_EQ(did_you_mean("fly", known), "");
  EXPECT_EQ(closest("expl", known), "explain");
  EXPECT_EQ(closest("run", {}), std::nullopt);
}

}  // namespace
}  // namespace headpond::plan
