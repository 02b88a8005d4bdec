// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/channels.h"

#include <gmock/gmock.h>

#include <array>
#include <limits>

namespace headpond {
namespace {

using testing::ElementsAre;

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kEndless = std::numeric_limits<float>::infinity();

TEST(MeanOfChannels, IsOneValueAFrame) {
  const std::array<float, 6> frames = {0.25F, 0.75F, -1, 1, kMost, kMost};
  std::array<float, 3> means;
  mean_of_channels(frames, 2, means);
  EXPECT_THAT(means, ElementsAre(0.5F, 0, kMost)) << "sums have room for all floats";
  std::array<float, 2> threes;
  mean_of_channels(frames, 3, threes);
  EXPECT_THAT(threes, ElementsAre(0, testing::FloatEq(kMost / 3 * 2)));
}

TEST(MeanOfChannels, MayReplaceItsFrames) {
  std::array<float, 4> frames = {1, 3, 5, 7};
  mean_of_channels(frames, 2, std::span(frames).first(2));
  EXPECT_THAT(frames, ElementsAre(2, 6, 5, 7));
}

TEST(FindNonFinite, FindsTheFirstOrClearsAll) {
  std::array<float, 4> values = {1, kMost, -kEndless, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(find_non_finite(values, false), 2U);
  EXPECT_EQ(find_non_finite(std::span(values).first(2), false), 2U);
  EXPECT_EQ(find_non_finite(values, true), 4U);
  EXPECT_THAT(values, ElementsAre(1, kMost, 0, 0));
}

}  // namespace
}  // namespace headpond
