// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>

#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/testing/contract.h"
#include "headpond/engine/check/order_quality_internal.h"

namespace headpond::internal {
namespace {

using testing::DoubleNear;

constexpr int64_t kAll = 1 << 30;

TEST(OrderQuality, AsStoredNothingMovesAndNothingMixes) {
  const OrderQuality quality = quality_of([](int64_t i) { return i; }, 1000, 10, kAll);
  EXPECT_EQ(quality.displacement, 0);
  EXPECT_EQ(quality.span, 0);
  EXPECT_EQ(quality.reach, 0);
  // Each batch has 10 of one tenth: (9^2 + 9 * 1^2) / (10 * 10 * 0.1 * 0.9 * 990 / 999).
  EXPECT_THAT(quality.mix.value(), DoubleNear(90 / (9.0 * 990 / 999), 1e-9));
}

TEST(OrderQuality, ReversedTheMeanIsHalfOfTheElements) {
  const OrderQuality quality = quality_of([](int64_t i) { return 999 - i; }, 1000, 10, kAll);
  EXPECT_EQ(quality.displacement, 500);
  EXPECT_EQ(quality.span, 999);
}

TEST(OrderQuality, AFullShuffleReachesAllAndMixes) {
  const auto quality = quality_of(*(range(100'000) | shuffle()).node(), 7, 100);
  ASSERT_TRUE(quality);
  EXPECT_THAT(quality->op, testing::StartsWith("shuffle("));
  EXPECT_THAT(quality->reach.value(), DoubleNear(1, 0.02));
  EXPECT_THAT(quality->mix.value(), DoubleNear(1, 0.1));
}

// What the pipeline delivers is what is measured.
TEST(OrderQuality, OfAWindowItIsThatOfTheDeliveredElements) {
  constexpr int64_t kCount = 2000;
  const Dataset dataset = range(kCount) | shuffle({.window = 50});
  const auto quality = quality_of(*dataset.node(), 3, 20);
  ASSERT_TRUE(quality);
  Sequence sequence(dataset, {.seed = 3});
  double moved = 0;
  int64_t span = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const int64_t distance = std::abs(sequence.next().value()[size_t{0}].item<int64_t>() - i);
    moved += static_cast<double>(distance);
    span = std::max(span, distance);
  }
  EXPECT_DOUBLE_EQ(quality->displacement, moved / kCount);
  EXPECT_EQ(quality->span, span);
  EXPECT_LE(span, 100);
  EXPECT_GT(quality->mix.value(), 1.5) << "rows of a batch come from one or two tenths";
}

TEST(OrderQuality, ASampleOfBatchesGivesAboutTheSame) {
  const auto view = [](int64_t i) { return i * 7919 % 100'000; };
  const OrderQuality all = quality_of(view, 100'000, 50, kAll), some = quality_of(view, 100'000, 50, 10'000);
  EXPECT_THAT(some.displacement, DoubleNear(all.displacement, 0.05 * all.displacement));
}

TEST(OrderQuality, AFewElementsAreOneBatch) {
  const OrderQuality quality = quality_of([](int64_t i) { return 2 - i; }, 3, 32, kAll);
  EXPECT_EQ(quality.mix, 1);
  EXPECT_EQ(quality.span, 2);
}

// An operator of a user: all elements, the last one first.
class Backwards final : public Node {
 public:
  Backwards(const Node::Ref& input, bool says_so) : Node(facts_of(input, says_so)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    const auto from_the_end = [last = slots() - 1](int64_t i) { return last - i; };
    return std::make_shared<PositionMap<decltype(from_the_end)>>(*this, view_of(input(), binding), from_the_end);
  }

 private:
  static Facts facts_of(const Node::Ref& input, bool says_so) {
    Facts facts = facts_over(input, "backwards", "", input->spec());
    facts.permutes = says_so;
    return facts;
  }
};

TEST(OrderQuality, AnyOperatorThatPermutesHasOne) {
  const Dataset numbers = range(1000);
  const auto quality = quality_of(Backwards(numbers.node(), true), 0, 10);
  ASSERT_TRUE(quality);
  EXPECT_EQ(quality->displacement, 500);
  EXPECT_EQ(quality->span, 999);
  EXPECT_EQ(quality_of(Backwards(numbers.node(), false), 0, 10), std::nullopt) << "control";
}

// What comes in order has an order too.
TEST(OrderQuality, OfAWindowOverAStreamItIsThatOfTheDeliveredElements) {
  constexpr int64_t kCount = 20 * 50;  // So many it looks at.
  const Dataset dataset = range(kCount) | as_stream() | shuffle({.window = 50});
  const auto quality = quality_of(*dataset.node(), 3, 20);
  ASSERT_TRUE(quality);
  Sequence sequence(dataset, {.seed = 3});
  double moved = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    moved += static_cast<double>(std::abs(sequence.next().value()[size_t{0}].item<int64_t>() - i));
  }
  EXPECT_DOUBLE_EQ(quality->displacement, moved / kCount);
  EXPECT_LT(quality->span, 200);
  EXPECT_EQ(quality->reach, std::nullopt) << "nobody knows how long it is";
  EXPECT_EQ(quality->mix, std::nullopt);
}

TEST(OrderQuality, OfOtherOperatorsNothingIsKnown) {
  EXPECT_EQ(quality_of(*range(9).node(), 0, 1), std::nullopt);
  EXPECT_EQ(quality_of(*(range(9) | batch(3)).node(), 0, 1), std::nullopt);
}

TEST(OrderQuality, OfAWindowThatIsTooLargeToBeTriedItIsWhatIsDocumented) {
  const auto quality = [](int64_t window) {
    return quality_of(*(from_generator([](uint64_t) -> Generator { return {}; }, {{"", i64, {}}}, {.name = "any"}) |
                        shuffle({.window = window}))
                           .node(),
                      0, 10)
        .value();
  };
  EXPECT_EQ(quality(int64_t{1} << 40).displacement, static_cast<double>(int64_t{1} << 39));
  EXPECT_EQ(quality(int64_t{1} << 40).span, (int64_t{1} << 41) - 1);
  EXPECT_THAT(quality(50'000).displacement, DoubleNear(25'000, 2500)) << "control: this one is tried";
}

}  // namespace
}  // namespace headpond::internal
