// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/codec/image/policy/policy_ops_internal.h"

namespace headpond {
namespace {

using policy_internal::is_signed;
using policy_internal::magnitude;
using policy_internal::policy_kernel;
using policy_internal::PolicyOp;
using policy_internal::Space;

constexpr policy_internal::PolicyImage kPolicyImage = {.height = 331, .width = 662, .dtype = DType::u8};

double standard_magnitude(PolicyOp op, int bin, int bins = 31) {
  return magnitude(op, Space::standard, bin, bins, kPolicyImage);
}
double wide_magnitude(PolicyOp op, int bin) { return magnitude(op, Space::wide, bin, 31, kPolicyImage); }

TEST(PolicyOps, HaveTorchvisionsMagnitudes) {
  EXPECT_FLOAT_EQ(static_cast<float>(standard_magnitude(PolicyOp::shear_x, 9)), 0.09F);
  EXPECT_FLOAT_EQ(static_cast<float>(standard_magnitude(PolicyOp::translate_x, 30)), 300);
  EXPECT_FLOAT_EQ(static_cast<float>(standard_magnitude(PolicyOp::translate_y, 15)), 75);
  EXPECT_FLOAT_EQ(static_cast<float>(standard_magnitude(PolicyOp::rotate, 9)), 9);
  EXPECT_FLOAT_EQ(static_cast<float>(standard_magnitude(PolicyOp::contrast, 30)), 0.9F);
  EXPECT_FLOAT_EQ(static_cast<float>(standard_magnitude(PolicyOp::solarize, 9)), 0.7F);
  EXPECT_EQ(standard_magnitude(PolicyOp::equalize, 9), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(wide_magnitude(PolicyOp::shear_y, 30)), 0.99F);
  EXPECT_FLOAT_EQ(static_cast<float>(wide_magnitude(PolicyOp::translate_x, 15)), 16);
  EXPECT_FLOAT_EQ(static_cast<float>(wide_magnitude(PolicyOp::rotate, 30)), 135);
}

// (8 - arange(n) / ((n - 1) / 4)).round(), by torch.
TEST(PolicyOps, RoundBitsToEven) {
  const std::vector<int> of_ten = {8, 8, 7, 7, 6, 6, 5, 5, 4, 4}, of_nine = {8, 8, 7, 6, 6, 6, 5, 4, 4};
  for (int bin = 0; bin < 10; ++bin)
    EXPECT_EQ(standard_magnitude(PolicyOp::posterize, bin, 10), of_ten[static_cast<size_t>(bin)]);
  for (int bin = 0; bin < 9; ++bin)
    EXPECT_EQ(standard_magnitude(PolicyOp::posterize, bin, 9), of_nine[static_cast<size_t>(bin)]);
  EXPECT_EQ(wide_magnitude(PolicyOp::posterize, 0), 8);
  EXPECT_EQ(wide_magnitude(PolicyOp::posterize, 30), 2);
}

TEST(PolicyOps, AreSignedFromShearToSharpness) {
  EXPECT_FALSE(is_signed(PolicyOp::identity));
  EXPECT_TRUE(is_signed(PolicyOp::shear_x));
  EXPECT_TRUE(is_signed(PolicyOp::sharpness));
  EXPECT_FALSE(is_signed(PolicyOp::posterize));
}

std::string op_title(PolicyOp op, double size) { return policy_kernel(op, size, kPolicyImage, {})->facts().title; }

TEST(PolicyOps, AreKernels) {
  EXPECT_EQ(policy_kernel(PolicyOp::identity, 0, kPolicyImage, {}), nullptr);
  EXPECT_EQ(op_title(PolicyOp::translate_x, -7.9), "affine(translate=[-7,0])");
  EXPECT_EQ(op_title(PolicyOp::translate_y, 7.9), "affine(translate=[0,7])");
  EXPECT_EQ(op_title(PolicyOp::rotate, -9), "rotate(angle=-9)");
  EXPECT_NE(op_title(PolicyOp::shear_x, 1).find("shear=[45"), std::string::npos) << op_title(PolicyOp::shear_x, 1);
  EXPECT_NE(op_title(PolicyOp::shear_y, -0.3).find("shear=[0,-16.69924423399"), std::string::npos)
      << op_title(PolicyOp::shear_y, -0.3);
  for (int op = 5; op <= static_cast<int>(PolicyOp::invert); ++op) {
    EXPECT_NE(policy_kernel(static_cast<PolicyOp>(op), 0.5, kPolicyImage, {}), nullptr);
  }
}

}  // namespace
}  // namespace headpond
