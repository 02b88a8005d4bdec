// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>

#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/resample/resample.h"

namespace headpond {
namespace {

Tensor ramp_of_sound(int64_t frames) {
  std::vector<float> values;
  for (int64_t i = 0; i < frames; ++i) values.push_back(static_cast<float>(i % 37) / 64);
  return Tensor::from(values, {frames, 1});
}

Tensor at_speed(const KernelRef& kernel, const Tensor& sound, uint64_t sample = 0) {
  const std::vector<KernelRef> chain = {kernel};
  const auto made = run_kernels(chain, sound, {.key = sample});
  EXPECT_TRUE(made) << made.error();
  return *made;
}

TEST(Speed, IsResamplingToTheSameRate) {
  const Tensor sound = ramp_of_sound(1000);
  const Tensor fast = at_speed(speed(1.1), sound), expected = *resample(sound, {.from = 11, .to = 10});
  EXPECT_EQ(fast.shape(), (Shape{910, 1}));
  EXPECT_THAT(fast.as<float>(), testing::ElementsAreArray(expected.as<float>()));
  EXPECT_EQ(at_speed(speed(0.5), sound).dim(0), 2000);
  EXPECT_THAT(at_speed(speed(1), sound).as<float>(), testing::ElementsAreArray(sound.as<float>()));
}

TEST(Speed, ASoundWithoutChannelsStaysOne) {
  EXPECT_EQ(at_speed(speed(2), Tensor::empty(f32, {5, 0})).shape(), (Shape{3, 0}));
}

TEST(Speed, ARangeGivesEachHundredthOfIt) {
  const KernelRef kernel = speed({.lo = 0.99, .hi = 1.01});
  std::set<int64_t> frames;
  for (uint64_t sample = 0; sample < 40; ++sample) frames.insert(at_speed(kernel, ramp_of_sound(1000), sample).dim(0));
  EXPECT_THAT(frames, testing::ElementsAre(991, 1000, 1011));
}

TEST(Speed, SaysWhatItGives) {
  const Spec clip = {{"a", f32, {1000, 2}}};
  EXPECT_EQ(speed(1.25)->facts().title, "speed(1.25)");
  EXPECT_EQ(speed(1.25)->facts().draws, "");
  EXPECT_EQ(speed(1.25)->facts().result(clip)[0].shape, (Shape{800, 2}));
  EXPECT_EQ(speed({.lo = 0.9, .hi = 1.1})->facts().title, "speed([0.9, 1.1])");
  EXPECT_EQ(speed({.lo = 0.9, .hi = 1.1})->facts().result(clip)[0].shape, (Shape{kUnknown, 2}));
  EXPECT_THROW(speed(1)->facts().result({{"a", DType::i16, {1}}}), Exception);
}

TEST(Speed, RefusesOtherFactors) {
  for (const double bad : {0.2, 4.1, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(speed(bad), Exception) << bad;
  }
  EXPECT_THROW(speed({.lo = 1.1, .hi = 0.9}), Exception);
}

}  // namespace
}  // namespace headpond
