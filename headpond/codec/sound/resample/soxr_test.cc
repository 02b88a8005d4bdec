// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "headpond/codec/sound/resample/resample.h"

namespace headpond {
namespace {

using testing::Each;
using testing::HasSubstr;

// The clip of tests/oracles/spectra.py.
Tensor clip_for_soxr(int64_t n) {
  std::vector<float> samples;
  for (int64_t i = 0; i < n; ++i) samples.push_back(static_cast<float>((i * i * 7 + i * 13) % 201 - 100) / 128);
  return Tensor::from(samples, {n});
}

ResampleOptions by_soxr(int64_t from, int64_t to) {
  return {.from = from, .to = to, .method = ResampleMethod::soxr_hq};
}

TEST(Soxr, GivesTheValuesOfThePythonPackage) {  // soxr 1.1.0: soxr.resample(clip, from, to, quality="HQ").
  const std::vector<std::pair<size_t, double>> down = {{137, 0.174956381},  {309, 0.309911579}, {118, -0.289273858},
                                                       {290, -0.168427229}, {99, -0.5237692},   {271, -0.00505558401},
                                                       {80, -0.0725529417}, {252, 0.14274314}};
  const std::vector<std::pair<size_t, double>> up = {{137, -0.137319311},  {309, -0.711494327}, {481, 0.577560186},
                                                     {653, 0.079091005},   {825, 0.361446559},  {997, -0.218249932},
                                                     {1169, -0.304662228}, {1341, -0.695757449}};
  const Tensor low = *resample(clip_for_soxr(1000), by_soxr(44100, 16000));
  const Tensor high = *resample(clip_for_soxr(1000), by_soxr(16000, 44100));
  for (const auto& [at, value] : down) EXPECT_NEAR(low.as<float>()[at], value, 1e-6) << at;
  for (const auto& [at, value] : up) EXPECT_NEAR(high.as<float>()[at], value, 1e-6) << at;
  const Tensor other = *resample(clip_for_soxr(1000), {.from = 44100, .to = 16000});
  EXPECT_GT(std::abs(other.as<float>()[137] - 0.174956381), 1e-3) << "control: another method";
}

// As librosa's fix_length has it: libsoxr gives a frame less at times.
TEST(Soxr, GivesAsManyFramesAsTheRatesSayRoundedUpWithZerosAtTheEnd) {
  const Tensor high = *resample(clip_for_soxr(1000), by_soxr(16000, 44100));
  ASSERT_EQ(high.dim(0), 2757);
  EXPECT_NE(high.as<float>()[2755], 0);
  EXPECT_EQ(high.as<float>()[2756], 0);
  for (const auto& [frames, expected] : {std::pair{0, 0}, {1, 1}, {2, 1}, {3, 2}, {441, 160}, {442, 161}})
    EXPECT_EQ(resample(clip_for_soxr(frames), by_soxr(44100, 16000))->dim(0), expected) << frames;
}

TEST(Soxr, KeepsASineAsItIs) {
  constexpr double kHz = 440;
  std::vector<float> samples;
  for (int i = 0; i < 44100; ++i)
    samples.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * kHz * i / 44100)));
  const Tensor made = *resample(Tensor::from(samples, {44100}), by_soxr(44100, 16000));
  for (size_t i = 1000; i < 15000; ++i) {
    const double ideal = std::sin(2 * std::numbers::pi * kHz * static_cast<double>(i) / 16000);
    ASSERT_NEAR(made.as<float>()[i], ideal, 2e-4) << i;
  }
}

TEST(Soxr, TakesEachChannelAlone) {
  const Tensor one = clip_for_soxr(500);
  std::vector<float> samples;
  for (const float x : one.as<float>()) samples.insert(samples.end(), {x, -x});
  const Tensor two = *resample(Tensor::from(samples, {500, 2}), by_soxr(8000, 11025));
  const Tensor alone = *resample(one, by_soxr(8000, 11025));
  ASSERT_EQ(two.shape(), (Shape{690, 2}));
  for (size_t i = 0; i < alone.as<float>().size(); ++i) {
    ASSERT_NEAR(two.as<float>()[2 * i], alone.as<float>()[i], 1e-6);
    ASSERT_NEAR(two.as<float>()[2 * i + 1], -alone.as<float>()[i], 1e-6);
  }
  EXPECT_EQ(resample(Tensor::empty(f32, {5, 0}), by_soxr(2, 1))->shape(), (Shape{3, 0}));
  EXPECT_EQ(resample(Tensor::empty(f32, {0, 2}), by_soxr(2, 1))->shape(), (Shape{0, 2}));
}

TEST(Soxr, EqualRatesChangeNothing) {
  EXPECT_THAT(resample(clip_for_soxr(9), by_soxr(8000, 8000))->as<float>(),
              testing::ElementsAreArray(clip_for_soxr(9).as<float>()));
}

TEST(Soxr, AValueThatIsNoNumberStaysInItsClip) {
  std::vector<float> samples(1000, 0.5F);
  samples[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(resample(Tensor::from(samples, {1000}), by_soxr(44100, 16000)));
  const Tensor after = *resample(clip_for_soxr(1000), by_soxr(44100, 16000));
  EXPECT_THAT(after.as<float>(), Each(testing::Truly([](float x) { return std::isfinite(x); })));
}

// Of [channels, frames], as torchaudio has them, libsoxr would take gigabytes.
TEST(Soxr, RefusesFramesInPlaceOfChannels) {
  EXPECT_THAT(resample(Tensor::empty(f32, {2, 16000}), by_soxr(44100, 16000)).error().message(),
              HasSubstr("soxr_hq takes at most 256 channels, not the 16000 of [frames,channels] = [2,16000]"));
  const std::vector<KernelRef> chain = {resample(by_soxr(44100, 16000))};
  const Spec two = {{"", f32, {kUnknown, 2}}}, many = {{"", f32, {kUnknown, 16000}}};
  EXPECT_EQ(chain[0]->facts().result(two)[0].shape, (Shape{kUnknown, 2}));
  EXPECT_THROW((void)chain[0]->facts().result(many), Exception);
  EXPECT_TRUE(resample(Tensor::empty(f32, {2, 16000}), {.from = 44100, .to = 16000}));
}

TEST(Soxr, RefusesWhatItDoesNotTake) {
  ResampleOptions wide = by_soxr(2, 1);
  wide.width = 12;
  EXPECT_THAT(resample(clip_for_soxr(9), wide).error().message(),
              HasSubstr("width, rolloff and beta are of sinc_hann"));
  EXPECT_THAT(resample(clip_for_soxr(9), by_soxr(1, 768000)).error().message(),
              HasSubstr("at most 256 times the other, not 1 and 768000"));
  EXPECT_TRUE(resample(clip_for_soxr(9), by_soxr(3000, 768000))) << "control: 256 times";
  EXPECT_EQ(resample(by_soxr(44100, 16000))->facts().title, "resample(from=44100, to=16000, method=soxr_hq)");
}

}  // namespace
}  // namespace headpond
