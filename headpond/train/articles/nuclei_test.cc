// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/nuclei.h"

#include <gtest/gtest.h>

#include "headpond/dataset/ops.h"

namespace headpond {
namespace {

// Pictures of 15 x 18 with a square of the target, which only channel 3 shows.
Dataset pictures(int64_t count, bool shown) {
  const auto draw = [shown](int64_t number, Random& random) -> Element {
    Tensor input = Tensor::empty(f32, {5, 15, 18}), target = Tensor::empty(f32, {15, 18});
    const auto values = input.mutable_as<float>(), is = target.mutable_as<float>();
    for (float& value : values) value = random.uniform();
    const int64_t top = number % 8, left = static_cast<int64_t>(random.below(10));
    for (int64_t y = 0; y < 15; ++y) {
      for (int64_t x = 0; x < 18; ++x) {
        const bool inside = y >= top && y < top + 7 && x >= left && x < left + 7;
        is[static_cast<size_t>(18 * y + x)] = inside ? 1 : 0;
        if (shown) values[static_cast<size_t>(3 * 15 * 18 + 18 * y + x)] = inside ? 0 : 1;
      }
    }
    return {std::move(input), std::move(target)};
  };
  return range(count) |
         random_map(draw, {.output = {{"input", f32, {5, 15, 18}}, {"target", f32, {15, 18}}}, .name = "draw"});
}

NucleiResult trained(bool shown) {
  const auto result = train_nuclei({.train = pictures(64, shown) | shuffle() | batch(8),
                                    .test = pictures(8, shown) | batch(1),
                                    .steps = 30,
                                    .lr = 1e-2,
                                    .config = {.seed = 7}});
  EXPECT_TRUE(result) << result.error();
  return *result;
}

TEST(TrainNuclei, LearnsWhatAChannelShows) {
  const NucleiResult with = trained(true);
  EXPECT_EQ(with.parameters, 6 + 118512 + 2 * 320 + 17);
  EXPECT_EQ(with.losses.size(), 30U);
  EXPECT_GT(*with.iou, 0.7);
  EXPECT_LT(*trained(false).iou, *with.iou - 0.2) << "control: nothing shows it";
}

}  // namespace
}  // namespace headpond
