// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/sound_kernel.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <string_view>

#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/tensor/head_kernel.h"

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

// A file whose head states more frames than it has.
TEST(SoundKernel, CountsTruncatedFilesThatLenientDecodingTakes) {
  const std::string whole(small_sound_file().bytes_at(0));
  const std::string cut = whole.substr(0, whole.size() - 4);
  for (const KernelRef& decode : {decode_sound({.lenient = true}), decode_wav({.lenient = true})}) {
    const KernelRef crop = decode->with(random_sound_crop(1));
    ASSERT_NE(crop, nullptr);
    for (const KernelRef& kernel : {decode, crop}) {
      KernelScratch scratch;
      const auto defects_of = [&](const std::string& file) {
        std::vector<Tensor> fields = {Tensor::scalar(std::string_view(file))};
        const std::vector<RandomKey> keys(2);
        KernelCall call(fields, keys, 0, {}, scratch);
        scratch.defects = {};
        EXPECT_TRUE(kernel->run(call));
        return scratch.defects.count;
      };
      EXPECT_EQ(defects_of(cut), 1);
      EXPECT_EQ(scratch.defects.first, "frames are missing at the end, or damaged");
      EXPECT_EQ(defects_of(whole), 0) << "control";
    }
  }
}

TEST(SoundKernel, TheLimitOfValuesHoldsForWavToo) {
  const auto decoded = [](const SoundOptions& options, const Tensor& file) {
    const std::vector<KernelRef> chain = {decode_sound(options)};
    return run_kernels(chain, file);
  };
  const Tensor file = small_sound_file();
  EXPECT_TRUE(decoded({.max_values = 4}, file));
  const auto refused = decoded({.max_values = 3}, file);
  EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(refused.error().message(),
              testing::HasSubstr("2 frames of 2 channels are more than the limit of 3 values"));
  EXPECT_TRUE(decoded({.desired_samples = 1, .max_values = 3}, file)) << "of those that are decoded";
  EXPECT_TRUE(decoded({.first_sample = 1, .max_values = 3}, file));
  EXPECT_TRUE(decoded({.desired_samples = 100, .max_values = 4}, file)) << "silence is not of the file";
  EXPECT_FALSE(decoded({.desired_channels = 4, .max_values = 7}, file));
}

TEST(SoundFrames, AreThoseThatAreDecoded) {
  const Tensor file = small_sound_file();
  for (const SoundOptions& options :
       {SoundOptions(), SoundOptions{.first_sample = 1}, SoundOptions{.first_sample = 2},
        SoundOptions{.desired_samples = 5}, SoundOptions{.desired_samples = 1, .first_sample = 1},
        SoundOptions{.sample_rate = 8000}, SoundOptions{.sample_rate = 11025},
        SoundOptions{.first_sample = 3, .sample_rate = 16000}}) {
    const std::vector<KernelRef> frames = {sound_frames(options)}, decoder = {decode_sound(options)};
    EXPECT_EQ(run_kernels(frames, file)->item<int64_t>(), run_kernels(decoder, file)->dim(0));
  }
  EXPECT_EQ(sound_frames({.first_sample = 1})->facts().title, "sound_frames(first_sample=1)");
  const std::vector<KernelRef> at_other_rate = {sound_frames({.sample_rate = 11025})};
  EXPECT_EQ(run_kernels(at_other_rate, file)->item<int64_t>(), 3) << "of 2 frames at 8000 Hz";
}

TEST(SoundFrames, FollowFromTheHead) {
  const KernelRef frames = sound_frames();
  const auto& kernel = dynamic_cast<const HeadKernel&>(*frames);
  const Tensor tensor = small_sound_file();
  const auto file = std::as_bytes(std::span(tensor.bytes_at(0)));
  EXPECT_EQ(kernel.from_head(file.first(44), file.size()).value(), 2);
  EXPECT_EQ(kernel.from_head(file.first(43), file.size()).error().kind(), ErrorKind::FailedPrecondition);
  // 800,000 frames after the head, which nobody has read.
  std::vector<std::byte> long_head(file.begin(), file.begin() + 44);
  const std::array<uint32_t, 2> sizes = {36 + 3'200'000, 3'200'000};
  std::memcpy(&long_head[4], &sizes[0], 4);
  std::memcpy(&long_head[40], &sizes[1], 4);
  EXPECT_EQ(kernel.from_head(long_head, 3'200'044).value(), 800'000);
}

TEST(SoundFrames, RefuseWhatTheDecoderRefuses) {
  EXPECT_THROW(sound_frames({.rate = -1}), Exception);
  const std::vector<KernelRef> other_rate = {sound_frames({.rate = 16000})}, late = {sound_frames({.first_sample = 3})};
  const std::vector<KernelRef> later = {sound_frames({.first_sample = 5, .sample_rate = 16000})};
  EXPECT_THAT(run_kernels(later, small_sound_file()).error().message(), testing::HasSubstr("first_sample 5 of 4"));
  EXPECT_FALSE(run_kernels(other_rate, small_sound_file()));
  EXPECT_THAT(run_kernels(late, small_sound_file()).error().message(), testing::HasSubstr("first_sample 3 of 2"));
  EXPECT_FALSE(run_kernels(late, Tensor::scalar(std::string_view("<html>"))));
}

TEST(SoundKernel, RefusesBadOptionsFieldsAndFiles) {
  for (const SoundOptions& options :
       {SoundOptions{.desired_channels = 0}, SoundOptions{.desired_samples = -2}, SoundOptions{.first_sample = -1},
        SoundOptions{.max_channels = 0}, SoundOptions{.desired_channels = 2, .mix = SoundMix::mean},
        SoundOptions{.rate = -1}, SoundOptions{.sample_rate = -1}, SoundOptions{.sample_rate = 768001},
        SoundOptions{.max_values = 0}}) {
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
