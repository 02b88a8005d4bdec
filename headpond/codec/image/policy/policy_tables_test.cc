// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/codec/image/policy/policy_ops_internal.h"

namespace headpond {
namespace {

using policy_internal::auto_augment_table;
using policy_internal::PolicyOp;

TEST(PolicyTables, AreThoseOfThreeDataSets) {
  for (const char* policy : {"imagenet", "cifar10", "svhn"}) {
    const auto table = auto_augment_table(policy);
    ASSERT_EQ(table.size(), 25U) << policy;
    for (const auto& pair : table) {
      for (const auto& step : pair) {
        EXPECT_TRUE(step.p >= 0 && step.p <= 1 && step.bin >= 0 && step.bin < 10);
        EXPECT_NE(step.op, PolicyOp::identity);
      }
    }
  }
  EXPECT_TRUE(auto_augment_table("mnist").empty());
}

TEST(PolicyTables, BeginAndEndAsTorchvisions) {
  const auto& first = auto_augment_table("imagenet").front();
  EXPECT_EQ(first[0].op, PolicyOp::posterize);
  EXPECT_EQ(first[0].p, 0.4);
  EXPECT_EQ(first[0].bin, 8);
  EXPECT_EQ(first[1].op, PolicyOp::rotate);
  const auto& last = auto_augment_table("svhn").back();
  EXPECT_EQ(last[0].op, PolicyOp::shear_x);
  EXPECT_EQ(last[1].op, PolicyOp::invert);
  EXPECT_EQ(last[1].p, 0.1);
}

}  // namespace
}  // namespace headpond
