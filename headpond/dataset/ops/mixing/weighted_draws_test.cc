// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/mixing/weighted_draws_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<double> frequencies(const std::vector<double>& weights, int count) {
  const AliasTable table(weights);
  std::vector<double> found(weights.size());
  for (int i = 0; i < count; ++i) {
    found[static_cast<size_t>(table.draw(RandomKey{7}, static_cast<uint64_t>(i)))] += 1.0 / count;
  }
  return found;
}

TEST(AliasTable, DrawsByWeight) {
  for (const std::vector<double>& weights :
       {std::vector<double>{1}, {1, 1}, {0, 1}, {1, 0}, {0.1, 0.2, 0.3, 0.4}, {1000, 1, 1, 0, 500}}) {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    const auto found = frequencies(weights, 20000);
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_NEAR(found[i], weights[i] / sum, 0.015) << i << " of " << weights.size();
      if (weights[i] == 0) {
        EXPECT_EQ(found[i], 0);
      }
    }
  }
}

TEST(Exponential, HasItsMeanAndItsTail) {
  double sum = 0;
  int above = 0;
  constexpr int kCount = 20000;
  for (uint64_t i = 0; i < kCount; ++i) {
    Random random(RandomKey{3}, i);
    const double value = exponential(random);
    sum += value;
    above += value > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 1, 0.03);
  EXPECT_NEAR(static_cast<double>(above) / kCount, 0.1353, 0.01);
}

TEST(DrawWithoutReplacement, DrawsEachOnceByWeight) {
  const std::vector<double> weights = {1, 0, 2, 5};
  std::vector<int> first(4);
  for (uint64_t key = 0; key < 8000; ++key) {
    auto drawn = draw_without_replacement(weights, RandomKey{key}, 3);
    ++first[static_cast<size_t>(drawn[0])];
    std::sort(drawn.begin(), drawn.end());
    EXPECT_THAT(drawn, ElementsAre(0, 2, 3));
  }
  EXPECT_NEAR(first[0], 1000, 120);
  EXPECT_NEAR(first[2], 2000, 160);
  EXPECT_NEAR(first[3], 5000, 200);
  EXPECT_THAT(draw_without_replacement(weights, RandomKey{1}, 0), IsEmpty());
}

}  // namespace
}  // namespace headpond::internal
