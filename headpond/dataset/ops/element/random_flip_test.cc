// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

// Each element: [2, 3] of 0 .. 5.
Dataset images(int64_t count) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count * 6; ++i) values.push_back(static_cast<int32_t>(i % 6));
  return from_tensor_slices(Tensor::from(std::span<const int32_t>(values), {count, 2, 3}));
}

std::pair<int, int> count_of(const Dataset& dataset, const std::string& plain, const std::string& flipped) {
  int left = 0, turned = 0;
  for (const std::string& text : elements(dataset)) {
    left += text == plain ? 1 : 0;
    turned += text == flipped ? 1 : 0;
  }
  return {left, turned};
}

TEST(RandomFlip, TurnsAboutHalfOfTheElementsAround) {
  const auto [plain, flipped] = count_of(images(400) | random_flip(1), "[2,3][0 1 2 3 4 5]", "[2,3][2 1 0 5 4 3]");
  EXPECT_EQ(plain + flipped, 400);
  EXPECT_NEAR(plain, 200, 45);
}

TEST(RandomFlip, KnowsEachAxis) {
  EXPECT_GT(count_of(images(40) | random_flip(0), "", "[2,3][3 4 5 0 1 2]").second, 5);
  EXPECT_GT(count_of(images(40) | random_flip(-1), "", "[2,3][2 1 0 5 4 3]").second, 5);
  EXPECT_THROW((void)(images(1) | random_flip(2)), Exception);
  EXPECT_THROW((void)(images(1) | random_flip(-3)), Exception);
  EXPECT_THROW((void)(range(1) | random_flip(0)), Exception);
}

TEST(RandomFlip, KeepsTheContract) {
  check_contract(images(9) | random_flip(1) | shuffle());
  check_contract(images(9) | as_stream() | random_flip(0));
  check_contract(from_tensor_slices(Tensor::empty(f32, {3, 0})) | random_flip(0));
}

}  // namespace
}  // namespace headpond::internal
