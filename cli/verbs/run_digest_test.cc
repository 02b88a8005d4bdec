// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/run_digest.h"

#include <gtest/gtest.h>

#include <array>

namespace headpond::cli {
namespace {

std::string digest(const std::vector<Element>& elements) {
  RunDigest all;
  for (const Element& element : elements) all.add(element);
  return all.text();
}

Tensor values(const Shape& shape) {
  return Tensor::from(std::span<const int32_t>(std::array<int32_t, 4>{1, 2, 3, 4}), shape);
}

TEST(RunDigest, IsThatOfTheDocumentedBytes) {
  EXPECT_EQ(digest({}), "2d06800538d394c2") << "XXH3 of nothing, as its authors print it";
  EXPECT_EQ(digest({Element{values({4})}}).size(), 16U);
}

TEST(RunDigest, SeesValuesShapesDtypesAndOrder) {
  const Element a{values({4})}, b{values({2, 2})},
      c{Tensor::from(std::span<const uint32_t>(std::array<uint32_t, 4>{1, 2, 3, 4}), {4})};
  EXPECT_EQ(digest({a, b}), digest({Element{values({4})}, b}));
  EXPECT_NE(digest({a}), digest({b}));
  EXPECT_NE(digest({a}), digest({c}));
  EXPECT_NE(digest({a, b}), digest({b, a}));
  EXPECT_NE(digest({Element{Tensor::scalar("ab"), Tensor::scalar("")}}),
            digest({Element{Tensor::scalar("a"), Tensor::scalar("b")}}));
}

}  // namespace
}  // namespace headpond::cli
