// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/sound_kernel.h"

#include <gmock/gmock.h>

#include <string_view>

#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/wav.h"

namespace headpond {
namespace {

Tensor small_sound_file() {
  const auto file = encode_wav(Tensor::from(std::vector<float>{0.25F, 0.5F, 0.75F, 0}, {2, 2}), 8000);
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file->data()), file->size()));
}

TEST(SoundKernel, DecodesAsTheFunctionDoes) {
  const std::vector<KernelRef> chain = {decode_sound({.mix = SoundMix::mean, .rate = 8000}), pad_or_trim(3)};
  const auto samples = run_kernels(chain, small_sound_file());
  ASSERT_TRUE(samples) << samples.error();
  EXPECT_EQ(samples->shape(), (Shape{3, 1}));
  EXPECT_THAT(samples->as<float>(), testing::ElementsAre(0.375F, 0.375F, 0));
}

TEST(SoundKernel, SaysWhatItGives) {
  const Spec bytes = {{"sound", DType::bytes, {}}};
  EXPECT_EQ(decode_sound()->facts().title, "decode_sound");
  EXPECT_EQ(decode_sound()->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown}));
  const KernelRef mean = decode_sound({.desired_samples = 9, .mix = SoundMix::mean, .rate = 16000, .max_values = 5});
  EXPECT_EQ(mean->facts().title, "decode_sound(desired_samples=9, mix=mean, rate=16000, max_values=5)");
  EXPECT_EQ(mean->facts().result(bytes)[0].shape, (Shape{9, 1}));
  EXPECT_EQ(decode_sound({.non_finite = NonFinite::zero})->facts().title, "decode_sound(non_finite=zero)");
}

TEST(SoundKernel, RefusesBadOptionsFieldsAndFiles) {
  for (const SoundOptions& options :
       {SoundOptions{.desired_channels = 0}, SoundOptions{.desired_samples = -2}, SoundOptions{.first_sample = -1},
        SoundOptions{.max_channels = 0}, SoundOptions{.desired_channels = 2, .mix = SoundMix::mean},
        SoundOptions{.rate = -1}, SoundOptions{.max_values = 0}}) {
    EXPECT_THROW(decode_sound(options), Exception);
  }
  EXPECT_THROW(decode_sound()->facts().result({{"sound", DType::f32, {3}}}), Exception);
  const std::vector<KernelRef> other = {decode_sound({.rate = 16000})};
  EXPECT_THAT(run_kernels(other, small_sound_file()).error().message(),
              testing::HasSubstr("sample rate of 8000 Hz, 16000 are required: resample"));
  EXPECT_THAT(run_kernels(other, Tensor::scalar(std::string_view("<html>"))).error().message(),
              testing::HasSubstr("found HTML"));
}

}  // namespace
}  // namespace headpond
