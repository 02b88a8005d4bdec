// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace headpond {
namespace {

using testing::HasSubstr;

Tensor slope(int64_t n) {
  std::vector<float> samples;
  for (int64_t i = 0; i < n; ++i) samples.push_back(static_cast<float>(i % 37) / 37);
  return Tensor::from(samples, {n, 1});
}

TEST(SpectrumKernels, GiveWhatTheFunctionsGive) {
  const SpectrumOptions options = {.preset = SpectrumPreset::whisper};
  const std::vector<KernelRef> all = {log_mel(options)};
  const auto found = run_kernels(all, slope(5000));
  ASSERT_TRUE(found);
  const Tensor expected = *log_mel(slope(5000), options);
  EXPECT_EQ(found->shape(), expected.shape());
  EXPECT_TRUE(std::ranges::equal(found->as<float>(), expected.as<float>()));
}

TEST(SpectrumKernels, DoNotDependOnWhatTheScratchHeldBefore) {
  KernelScratch scratch;
  const std::vector<KernelRef> all = {mfcc(), stft({.fft = 30}), log_mel(), mfcc({.preset = SpectrumPreset::librosa})};
  for (int round = 0; round < 2; ++round) {
    for (const KernelRef& kernel : all) {
      std::vector<Tensor> fields = {slope(3000)};
      KernelCall call(fields, {}, 0, {}, scratch);
      ASSERT_TRUE(kernel->run(call));
      call.finish();
      const std::vector<KernelRef> alone = {kernel};
      EXPECT_TRUE(std::ranges::equal(fields[0].as<float>(), run_kernels(alone, slope(3000))->as<float>()));
    }
  }
}

TEST(SpectrumKernels, KnowTheShapeWhereTheNumberOfSamplesIsKnown) {
  const Spec ten = {{"sound", DType::f32, {160000, 1}}};
  const Spec any = {{"sound", DType::f32, {kUnknown, kUnknown}}};
  EXPECT_EQ(log_mel({.mels = 80})->facts().result(ten)[0].shape, (Shape{801, 80}));
  EXPECT_EQ(log_mel({.mels = 80})->facts().result(any)[0].shape, (Shape{kUnknown, 80}));
  EXPECT_EQ(mfcc({.mels_first = true})->facts().result(ten)[0].shape, (Shape{40, 801}));
  EXPECT_EQ(stft()->facts().result(any)[0].shape, (Shape{kUnknown, 201, 2}));
}

TEST(SpectrumKernels, NameTheOptionsThatAreGiven) {
  EXPECT_EQ(log_mel()->facts().title, "log_mel");
  EXPECT_EQ(log_mel({.preset = SpectrumPreset::whisper, .mels = 128})->facts().title, "log_mel(whisper, mels=128)");
  EXPECT_EQ(mfcc({.window = SpectrumWindow::hamming, .low_hz = 20.0, .coefficients = 13})->facts().title,
            "mfcc(window=hamming, low_hz=20, coefficients=13)");
}

std::string refused_spectrum(const SpectrumOptions& options) {
  try {
    spectrogram(options);
    return "";
  } catch (const Exception& wrong) {
    return wrong.error().message();
  }
}

TEST(SpectrumKernels, RefuseBadOptionsFieldsAndClips) {
  EXPECT_EQ(refused_spectrum({.window_length = 100'000}), "spectrogram: window_length must be 1 to 65536");
  EXPECT_EQ(refused_spectrum({.fft = 100'000}), "spectrogram: fft must be 1 to 65536");
  EXPECT_THROW(spectrogram({.hop = 0}), Exception);
  EXPECT_THROW(mel_spectrogram()->facts().result({{"sound", DType::f32, {1000, 2}}}), Exception);
  EXPECT_THROW(mel_spectrogram()->facts().result({{"sound", DType::i16, {1000}}}), Exception);
  const std::vector<KernelRef> all = {log_mel()};
  EXPECT_THAT(run_kernels(all, slope(100)).error().message(), HasSubstr("too few to mirror"));
  EXPECT_THAT(run_kernels(all, Tensor::from(std::vector<float>(8), {4, 2})).error().message(), HasSubstr("[4,2]"));
}

}  // namespace
}  // namespace headpond
