// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

const Spec kSpec = {{"x", DType::f32, {kUnknown, 2}}, {"y", DType::i64, {}}};

Element element_of(const Shape& x) { return {Tensor::empty(DType::f32, x), Tensor::scalar(int64_t{1})}; }

TEST(CheckElement, TakesWhatTheSpecAdmits) {
  EXPECT_FALSE(check_element(kSpec, element_of({3, 2})));
  EXPECT_FALSE(check_element(kSpec, element_of({0, 2})));
  EXPECT_FALSE(check_element({}, Element()));
  EXPECT_FALSE(check_element({{"s", DType::bytes, {}}}, {Tensor::scalar("text")}));
}

TEST(CheckElement, TellsWhatWasExpectedAndFound) {
  const Error error = check_element(kSpec, element_of({3, 3}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error.message(), "expected {'x': float32[?,2], 'y': int64[]}, found {0: float32[3,3], 1: int64[]}");
}

TEST(CheckElement, RefusesAnotherCountDTypeRankOrName) {
  EXPECT_TRUE(check_element(kSpec, {Tensor::empty(DType::f32, {3, 2})}));
  EXPECT_TRUE(check_element(kSpec, {Tensor::empty(DType::f32, {3, 2}), Tensor::scalar(1)}));
  EXPECT_TRUE(check_element(kSpec, element_of({3, 2, 1})));
  EXPECT_TRUE(check_element(kSpec, element_of({2})));
  const auto x = Tensor::empty(DType::f32, {3, 2}), y = Tensor::scalar(int64_t{1});
  EXPECT_FALSE(check_element(kSpec, Element::named({{"x", x}, {"y", y}})));
  EXPECT_TRUE(check_element(kSpec, Element::named({{"x", x}, {"z", y}})));
}

}  // namespace
}  // namespace headpond::internal
