// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/augment/mix_noise.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace headpond {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

Tensor sound_of(std::vector<float> values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor::from(values, {n});
}

Tensor ramp_of(int64_t n, float step) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(step * static_cast<float>(i % 97 + 1));
  return sound_of(values);
}

Result<Tensor> mixed(const KernelRef& kernel, const Tensor& in, uint64_t key = 0) {
  const std::vector<KernelRef> all = {kernel};
  return run_kernels(all, in, {.seed = 5, .key = key});
}

double energy_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

TEST(MixNoise, AddsNoiseOfTheRatioThatIsAsked) {
  const KernelRef kernel = mix_noise(noise_clips({ramp_of(5000, 0.001F)}), {.low_snr_db = 10, .high_snr_db = 10});
  const Tensor in = ramp_of(1000, 0.01F);
  for (uint64_t key = 0; key < 5; ++key) {
    const Tensor out = *mixed(kernel, in, key);
    std::vector<float> added(1000);
    std::transform(out.as<float>().begin(), out.as<float>().end(), in.as<float>().begin(), added.begin(), std::minus());
    EXPECT_NEAR(10 * std::log10(energy_of(in.as<float>()) / energy_of(added)), 10, 1e-3);
  }
}

TEST(MixNoise, FollowsItsDraws) {
  Random random(random_key(5, "mix_noise", 0, 0), 9);
  random.u32();
  const double snr = 20 * static_cast<double>(random.uniform());
  const auto choice = [&](uint64_t n) {
    return static_cast<int64_t>(static_cast<double>(random.u64()) * 0x1p-64 * static_cast<double>(n));
  };
  const std::vector<Tensor> clips = {ramp_of(70, 0.5F), ramp_of(70, 0.25F), ramp_of(70, -1)};
  const Tensor clip = clips[static_cast<size_t>(choice(3))];
  const int64_t first = choice(70 - 40 + 1);
  const Tensor in = ramp_of(40, 0.1F);
  const auto noise = clip.as<float>().subspan(static_cast<size_t>(first), 40);
  const double scale = std::sqrt(energy_of(in.as<float>()) / energy_of(noise)) * std::pow(10, -snr / 20);
  const Tensor out = *mixed(mix_noise(noise_clips(clips)), in, 9);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(out.as<float>()[i], static_cast<double>(in.as<float>()[i]) + scale * static_cast<double>(noise[i]),
                1e-5);
  }
}

TEST(MixNoise, RepeatsShortNoiseAndUsesItForAllChannels) {
  const Tensor in = Tensor::from(std::vector<float>(12, 1.0F), {6, 2});
  const KernelRef kernel = mix_noise(noise_clips({sound_of({1, -1})}), {.low_snr_db = 0, .high_snr_db = 0});
  const Tensor out = *mixed(kernel, in);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(std::abs(out.as<float>()[i] - 1), 1, 1e-6);
    EXPECT_EQ(out.as<float>()[i], out.as<float>()[i % 4 / 2 * 2]);
  }
}

TEST(MixNoise, LeavesSilenceEmptySoundAndUnchosenSamplesAlone) {
  const Tensor in = ramp_of(10, 0.1F);
  EXPECT_THAT(mixed(mix_noise(noise_clips({sound_of({0, 0})})), in)->as<float>(), ElementsAreArray(in.as<float>()));
  EXPECT_THAT(mixed(mix_noise(noise_clips({sound_of({})})), in)->as<float>(), ElementsAreArray(in.as<float>()));
  EXPECT_THAT(mixed(mix_noise(noise_clips({in}), {.p = 0}), in)->as<float>(), ElementsAreArray(in.as<float>()));
  EXPECT_EQ(mixed(mix_noise(noise_clips({in})), sound_of({}))->size(), 0);
  EXPECT_THAT(mixed(mix_noise(noise_clips({in})), sound_of({0, 0}))->as<float>(), testing::ElementsAre(0, 0));
}

TEST(MixNoise, GivesTheErrorsOfItsNoise) {
  const NoiseClips lost = {.count = 1,
                           .read = [](int64_t) -> Result<Tensor> { return fail(ErrorKind::NotFound, "a.wav"); }};
  EXPECT_EQ(mixed(mix_noise(lost), ramp_of(3, 1)).error().kind(), ErrorKind::NotFound);
  const KernelRef three = mix_noise(noise_clips({Tensor::from(std::vector<float>(6), {2, 3})}));
  EXPECT_THAT(mixed(three, ramp_of(3, 1)).error().message(), HasSubstr("noise of 3 channels for 1"));
  const KernelRef wrong = mix_noise(noise_clips({Tensor::scalar(int64_t{1})}));
  EXPECT_THAT(mixed(wrong, ramp_of(3, 1)).error().message(), HasSubstr("noise is float32[frames]"));
}

TEST(MixNoise, NamesItsClipsAndRefusesBadOptions) {
  const NoiseClips clips = noise_clips({ramp_of(3, 1)}, "rooms");
  EXPECT_EQ(mix_noise(clips, {.p = 0.5})->facts().title, "mix_noise(1 clips of rooms, snr_db=[0, 20], p=0.5)");
  EXPECT_FALSE(mix_noise(clips)->facts().opaque);
  EXPECT_TRUE(mix_noise(noise_clips({ramp_of(3, 1)}))->facts().opaque);
  EXPECT_THROW(mix_noise(noise_clips({})), Exception);
  EXPECT_THROW(mix_noise(clips, {.low_snr_db = 5, .high_snr_db = 4}), Exception);
  EXPECT_THROW(mix_noise(clips, {.p = 2}), Exception);
  EXPECT_THROW(mix_noise(clips, {.high_snr_db = std::nan("")}), Exception);
  EXPECT_THROW(mix_noise(clips)->facts().result({{"x", DType::i16, {3}}}), Exception);
}

}  // namespace
}  // namespace headpond
