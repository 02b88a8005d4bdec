// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/normal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Dataset floats(int64_t rows, int64_t columns, float value) {
  const std::vector<float> values(static_cast<size_t>(rows * columns), value);
  return from_tensor_slices({{"x", Tensor::from(std::span<const float>(values), {rows, columns})}});
}

TEST(AddNoise, AddsTheElementsOwnNormals) {
  Sequence sequence(floats(3, 2500, 1) | add_noise(0.5F), {.seed = 9});
  for (uint64_t i = 0; i < 3; ++i) {
    const Element element = *sequence.next();
    std::vector<float> normals(2500);
    fill_normal(normals, random_key(9, "add_noise", 0, 0), i);
    const auto values = element["x"].as<float>();
    for (size_t at = 0; at < normals.size(); ++at) ASSERT_EQ(values[at], 1 + 0.5F * normals[at]) << at;
  }
}

TEST(AddNoise, LeavesTheSourceAsItWas) {
  const Dataset source = floats(2, 40, 3);
  (void)elements(source | add_noise(1));
  EXPECT_EQ(elements(source | add_noise(0)), elements(source));
}

TEST(AddNoise, KeepsTheContract) {
  check_contract(floats(5, 70, 0) | add_noise(2) | shuffle());
  check_contract(floats(5, 1, 0) | as_stream() | add_noise(2));
  check_contract(floats(2, 0, 0) | add_noise(2));
}

TEST(AddNoise, RefusesOtherDtypesAndBadDeviations) {
  EXPECT_THROW((void)(range(3) | add_noise(1)), Exception);
  EXPECT_THROW((void)add_noise(-1), Exception);
  EXPECT_THROW((void)add_noise(std::numeric_limits<float>::quiet_NaN()), Exception);
}

}  // namespace
}  // namespace headpond::internal
