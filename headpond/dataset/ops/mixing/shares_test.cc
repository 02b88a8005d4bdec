// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/mixing/shares_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

// "0011": the datasets of the first elements.
std::string order(const Shares& shares, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += std::to_string(shares.at(i).first);
  return text;
}
Shares of(const std::vector<double>& weights) { return Shares({{0, weights}}); }

TEST(Shares, AreExact) {
  EXPECT_EQ(order(of({1, 1}), 8), "01010101");
  EXPECT_EQ(order(of({1}), 3), "000");
  EXPECT_EQ(order(of({0, 1, 0}), 3), "111");
  for (const std::vector<double>& weights : {std::vector<double>{3, 1}, {1, 2, 4}, {0.2, 0.5, 0.3}, {5, 0, 1, 1, 7}}) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    const Shares shares = of(weights);
    for (int64_t end = 0; end < 200; ++end) {
      const auto counts = shares.counts(end);
      int64_t all = 0;
      for (size_t n = 0; n < weights.size(); ++n) {
        all += counts[n];
        EXPECT_NEAR(static_cast<double>(counts[n]), weights[n] / sum * static_cast<double>(end), 2.0);
      }
      EXPECT_EQ(all, end);
    }
  }
}

TEST(Shares, GiveEachDatasetItsElementsInOrder) {
  const Shares shares({{0, {3, 1, 2}}, {17, {0, 1, 1}}, {40, {1, 0, 0}}});
  std::vector<int64_t> next(3);
  for (int64_t i = 0; i < 100; ++i) {
    const auto [n, position] = shares.at(i);
    EXPECT_EQ(position, next[n]++) << i;
    EXPECT_EQ(shares.counts(i + 1), next) << i;
    if (i >= 17 && i < 40) {
      EXPECT_NE(n, 0U) << i;
    }
    if (i >= 40) {
      EXPECT_EQ(n, 0U) << i;
    }
  }
}

TEST(Shares, GoOnFarOut) {
  const Shares shares = of({0.7, 0.2, 0.1});
  for (int64_t i = kHuge; i < kHuge + 50; ++i) {
    auto counts = shares.counts(i);
    const auto [n, position] = shares.at(i);
    EXPECT_EQ(position, counts[n]);
    ++counts[n];
    EXPECT_EQ(shares.counts(i + 1), counts);
  }
}

TEST(Shares, EndWhereADatasetDoes) {
  EXPECT_EQ(of({1, 1}).most({3, 3}), 6);
  EXPECT_EQ(of({1, 1}).most({3, 9}), 6) << "the seventh would be the fourth of the first one";
  EXPECT_EQ(of({1, 1}).most({9, 3}), 7);
  EXPECT_EQ(of({1, 0}).most({9, 0}), 9) << "a weight of 0 ends nothing";
  EXPECT_EQ(of({1, 1}).most({kEndless, kEndless}), kEndless);
  EXPECT_EQ(of({1, 1}).most({kEndless, 3}), 7);
  EXPECT_EQ(of({1, 1}).most({0, 5}), 0);
}

}  // namespace
}  // namespace headpond::internal
