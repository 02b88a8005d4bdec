// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(SampleWeighted, DrawsWithReplacement) {
  const Dataset dataset = range(4) | sample_weighted({0, 1, 0, 3}, 1000);
  EXPECT_EQ(dataset.cardinality(), 1000);
  const auto all = elements(dataset, {.seed = 2, .epochs = 2});
  EXPECT_NEAR(static_cast<double>(std::count(all.begin(), all.begin() + 1000, "3")), 750, 60);
  EXPECT_EQ(std::count(all.begin(), all.end(), "0") + std::count(all.begin(), all.end(), "2"), 0);
  EXPECT_FALSE(std::equal(all.begin(), all.begin() + 1000, all.begin() + 1000)) << "each epoch draws others";
}

TEST(SampleWeighted, AnElementThatIsDrawnTwiceHasTwoKeys) {
  EXPECT_THAT(elements(range(1) | sample_weighted({1}, 2), {}, true),
              ElementsAre(fmt::format("0 #{:x}", mix(0, 0)), fmt::format("0 #{:x}", mix(0, 1))));
}

TEST(SampleWeighted, DrawsWithoutReplacement) {
  const Step step = sample_weighted({1, 0, 3, 1}, 3, {.replacement = false});
  EXPECT_THAT(elements(range(4) | step), testing::UnorderedElementsAre("0", "2", "3"));
  EXPECT_THAT(elements(range(4) | sample_weighted({1, 0, 3, 1}, 0, {.replacement = false})), IsEmpty());
}

TEST(SampleWeighted, TakesATensor) {
  const Tensor weights = Tensor::from(std::vector<float>{0, 1, 0}, {3});
  EXPECT_THAT(elements(range(3) | sample_weighted(weights, 2)), ElementsAre("1", "1"));
  EXPECT_THROW(sample_weighted(Tensor::scalar(1.0), 2), Exception);
  EXPECT_THROW(sample_weighted(Tensor::from(std::vector<int64_t>{1}, {1}), 2), Exception);
}

TEST(SampleWeighted, RefusesWhatDoesNotFit) {
  EXPECT_THAT(
      [] {
        range(3) | sample_weighted({1, 1}, 2);
      },
      ThrowsMessage<Exception>(HasSubstr("sample_weighted: 2 weights for 3 elements")));
  EXPECT_THAT(
      [] {
        sample_weighted({1, 0}, 2, {.replacement = false});
      },
      ThrowsMessage<Exception>(HasSubstr("2 draws without replacement from 1 weights above 0")));
  EXPECT_THROW(sample_weighted({1, -1}, 2), Exception);
  EXPECT_THROW(sample_weighted(std::vector<double>(), 2), Exception);
  EXPECT_THROW(sample_weighted({1}, -2), Exception);
  EXPECT_THROW(range(3) | as_stream() | sample_weighted({1, 1, 1}, 2), Exception);
}

TEST(SampleWeighted, KeepsTheContract) {
  check_contract(range(4) | sample_weighted({1, 2, 3, 4}, 9) | random_u32());
  check_contract(range(4) | sample_weighted({1, 2, 3, 4}, 3, {.replacement = false}) | repeat(2));
  check_contract(range(7) | batch(2) | sample_weighted({1, 2, 3, 4}, 5));
}

}  // namespace
}  // namespace headpond::internal
