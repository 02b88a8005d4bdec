// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/dataset/ops.h"
#include "headpond/engine/check/label_mix_internal.h"

namespace headpond::internal {
namespace {

using testing::DoubleNear;

// Ten classes, of 1,000 elements each, one after the other.
Dataset sorted() {
  return range(10'000) | map([](int64_t x) { return x / 1000; }, {.output = {{"label", i64, {}}}});
}

double mix_of(const Dataset& dataset, int64_t most = 10'000) {
  return label_mix(dataset.node(), "label", 7, 20, most).mix.value();
}

TEST(LabelMix, OfSortedClassesIsThatOfWholeBatchesOfOne) {
  // (18^2 + 9 * 2^2) / (10 * 20 * 0.1 * 0.9 * (1 - 20 / 10,000) * 9,980 / 9,999).
  EXPECT_THAT(mix_of(sorted()), DoubleNear(360 / (18 * 0.998 * 9980 / 9999), 1e-9));
}

TEST(LabelMix, OfAFullShuffleIsOne) {
  EXPECT_THAT(mix_of(sorted() | shuffle()), DoubleNear(1, 0.1));
  EXPECT_THAT(mix_of(sorted() | shuffle(), 2000), DoubleNear(1, 0.2)) << "of every fifth batch";
}

TEST(LabelMix, OfASmallWindowIsLarge) { EXPECT_GT(mix_of(sorted() | shuffle(100)), 5); }

// Each batch has two of each class: more even than chance.
TEST(LabelMix, OfClassesInTurnIsNothing) {
  const Dataset in_turn = range(10'000) | map([](int64_t x) { return x % 10; }, {.output = {{"label", i64, {}}}});
  EXPECT_EQ(mix_of(in_turn), 0);
}

TEST(LabelMix, OfTextsAndOfWhatIsLeft) {
  const auto name = [](int64_t x) { return x < 5000 ? std::string("left") : std::string("right"); };
  const Dataset names = range(10'000) | map(name, {.output = {{"label", bytes, {}}}}) |
                        filter([](std::string_view label) { return label != "right"; });
  const LabelMix mix = label_mix(names.node(), "label", 7, 20, 10'000);
  EXPECT_EQ(mix.classes, 1);
  EXPECT_EQ(mix.mix.value(), 1) << "there is nothing to mix";
}

TEST(LabelMix, OfAStreamLooksAtItsFirstBatches) {
  const LabelMix mix = label_mix((sorted() | unique()).node(), "label", 7, 2, 4);
  EXPECT_EQ(mix.batches, 2);
  EXPECT_EQ(mix.classes, 4);
}

TEST(LabelMix, OfLargeBatchesLooksAtThePartsThatItMayMake) {
  for (const int64_t batch : {50, 51, 2000, 6000}) {
    int64_t made = 0;
    const auto label = [&made](int64_t x) { return ++made, x / 1000; };
    const Dataset counted = range(10'000) | map(label, {.output = {{"label", i64, {}}}});
    const LabelMix bad = label_mix(counted.node(), "label", 7, batch, 100);
    EXPECT_EQ(bad.batches, 2) << batch;
    EXPECT_EQ(made, 100) << batch;
    EXPECT_GT(bad.mix.value(), 10) << batch;
    EXPECT_LT(label_mix((sorted() | shuffle()).node(), "label", 7, batch, 1000).mix.value(), 3) << batch;
  }
}

TEST(LabelMix, OfOneBatchIsNotKnown) {
  EXPECT_EQ(label_mix(sorted().node(), "label", 7, 10'000, 100).mix, std::nullopt);
  EXPECT_EQ(label_mix((sorted() | unique()).node(), "label", 7, 20, 10).mix, std::nullopt);
  EXPECT_NE(label_mix(sorted().node(), "label", 7, 5000, 100).mix, std::nullopt) << "control";
}

TEST(LabelMix, FieldsThatHaveNoClassesAreRefused) {
  const auto refused = [](const Dataset& dataset, const std::string& field) {
    try {
      (void)label_mix(dataset.node(), field, 7, 20, 100);
    } catch (const Exception& problem) {
      return problem.error().message();
    }
    return std::string();
  };
  EXPECT_EQ(refused(sorted(), "lable"), "check: elements have no field 'lable': {'label': int64[]}");
  EXPECT_EQ(refused(sorted() | batch(2), "label"), "check: the field 'label' is no single value: {'label': int64[?]}");
}

}  // namespace
}  // namespace headpond::internal
