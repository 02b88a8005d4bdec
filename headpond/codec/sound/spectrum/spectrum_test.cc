// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/spectrum.h"

#include <gmock/gmock.h>

#include <cmath>
#include <utility>

namespace headpond {
namespace {

using testing::HasSubstr;

// The clip of tests/oracles/spectra.py.
Tensor oracle_clip(int64_t n = 4000) {
  std::vector<float> samples;
  for (int64_t i = 0; i < n; ++i) samples.push_back(static_cast<float>((i * i * 7 + i * 13) % 201 - 100) / 128);
  return Tensor::from(samples, {n});
}

using Expected = std::vector<std::pair<size_t, double>>;

// Values of tests/oracles/spectra.py table: a place in the spectrum, and what float64 gives there.
const Expected kTorchaudio = {{500, 14.903975}, {2409, 19.7833407}, {1630, 19.2249597}, {851, 16.8440739},
                              {72, 6.68582046}, {1981, 19.1388239}, {1202, 16.593316},  {423, 6.47327437}};
const Expected kLibrosa = {{500, 12.0121417}, {233, 4.8975364},  {990, 17.0081656}, {723, 7.43056553},
                           {456, 9.89571104}, {189, 14.4101643}, {946, 10.0804411}, {679, -9.34992932}};
const Expected kWhisper = {{500, 0.859355387}, {473, 0.869467577}, {446, 0.82102568}, {419, 0.960873346},
                           {392, 0.989545221}, {365, 0.847162742}, {338, 1.01843066}, {311, 0.96669651}};
const Expected kKaldi = {{500, 21.1981723},  {1273, 26.9655191}, {206, 24.3877385},  {979, 18.7985263},
                         {1752, 26.4966202}, {685, 24.3140411},  {1458, 22.0017233}, {391, 27.6047972}};
const Expected kMfcc = {{500, -16.2050522}, {393, -7.45395976}, {286, -26.9052474}, {179, -13.703389},
                        {72, -10.9324888},  {805, -28.2822169}, {698, -22.2899271}, {591, -1.26338947}};

bool near_all(const Result<Tensor>& found, const Expected& expected, double bound) {
  for (const auto& [place, value] : expected) {
    if (!(std::abs(static_cast<double>(found->as<float>()[place]) - value) <= bound)) return false;
  }
  return true;
}

TEST(Spectrum, GivesTheValuesOfItsPresets) {
  const Tensor clip = oracle_clip();
  EXPECT_TRUE(near_all(log_mel(clip), kTorchaudio, 1e-4));
  EXPECT_TRUE(near_all(log_mel(clip, {.preset = SpectrumPreset::librosa}), kLibrosa, 1e-4));
  EXPECT_TRUE(near_all(log_mel(clip, {.preset = SpectrumPreset::whisper}), kWhisper, 1e-5));
  EXPECT_TRUE(near_all(log_mel(clip, {.preset = SpectrumPreset::kaldi}), kKaldi, 1e-4));
  EXPECT_TRUE(near_all(mfcc(clip), kMfcc, 5e-4));
}

TEST(Spectrum, ControlAnotherWindowScaleOrEdgeGivesOtherValues) {
  const Tensor clip = oracle_clip();
  EXPECT_FALSE(near_all(log_mel(clip, {.window = SpectrumWindow::hamming}), kTorchaudio, 1e-4));
  EXPECT_FALSE(near_all(log_mel(clip, {.mel_scale = MelScale::slaney}), kTorchaudio, 1e-4));
  EXPECT_FALSE(
      near_all(log_mel(clip, {.preset = SpectrumPreset::kaldi, .window = SpectrumWindow::hann}), kKaldi, 1e-4));
  EXPECT_FALSE(near_all(log_mel(clip, {.preset = SpectrumPreset::kaldi, .pre_emphasis = 0.0}), kKaldi, 1e-4));
  EXPECT_FALSE(near_all(mfcc(clip, {.top_db = 10.0}), kMfcc, 5e-4));
}

TEST(Spectrum, HasTheShapesOfItsKind) {
  const Tensor clip = oracle_clip(1000);
  EXPECT_EQ(stft(clip)->shape(), (Shape{6, 201, 2}));
  EXPECT_EQ(stft(clip, {.mels_first = true})->shape(), (Shape{201, 6, 2}));
  EXPECT_EQ(spectrogram(clip)->shape(), (Shape{6, 201}));
  EXPECT_EQ(mel_spectrogram(clip)->shape(), (Shape{6, 128}));
  EXPECT_EQ(log_mel(clip, {.mels = 80, .mels_first = true})->shape(), (Shape{80, 6}));
  EXPECT_EQ(mfcc(clip)->shape(), (Shape{6, 40}));
  EXPECT_EQ(mfcc(clip, {.coefficients = 13, .mels_first = true})->shape(), (Shape{13, 6}));
  EXPECT_EQ(Spectrum(SpectrumKind::log_mel).shape(kUnknown), (Shape{kUnknown, 128}));
}

TEST(Spectrum, MelsFirstIsTheSameTransposed) {
  const Tensor clip = oracle_clip(5000);
  for (const auto& function : {stft, spectrogram, log_mel, mfcc}) {
    const Tensor rows = *function(clip, {});
    const Tensor columns = *function(clip, {.mels_first = true});
    const int64_t frames = rows.dim(0), width = rows.dim(1), parts = rows.rank() == 3 ? 2 : 1;
    for (int64_t i = 0; i < rows.size(); ++i) {
      const int64_t part = i % parts, column = i / parts % width, frame = i / parts / width;
      const auto at = static_cast<size_t>((column * frames + frame) * parts + part);
      ASSERT_EQ(columns.as<float>()[at], rows.as<float>()[static_cast<size_t>(i)]);
    }
  }
}

TEST(Spectrum, MagnitudesAreTheRootsOfPowers) {
  const Tensor powers = *spectrogram(oracle_clip(1000));
  const Tensor magnitudes = *spectrogram(oracle_clip(1000), {.power = 1});
  for (size_t i = 0; i < powers.as<float>().size(); ++i) {
    ASSERT_EQ(magnitudes.as<float>()[i], std::sqrt(powers.as<float>()[i]));
  }
}

TEST(Spectrum, TakesAnyNumberOfSamples) {
  EXPECT_EQ(log_mel(oracle_clip(0), {.edges = SpectrumEdges::zeros})->shape(), (Shape{1, 128}));
  EXPECT_EQ(log_mel(oracle_clip(1), {.edges = SpectrumEdges::zeros})->shape(), (Shape{1, 128}));
  EXPECT_EQ(log_mel(oracle_clip(399), {.preset = SpectrumPreset::kaldi})->shape(), (Shape{0, 80}));
  EXPECT_EQ(log_mel(oracle_clip(400), {.preset = SpectrumPreset::kaldi})->shape(), (Shape{1, 80}));
  EXPECT_EQ(log_mel(oracle_clip(201), {.hop = 100000})->shape(), (Shape{1, 128}));
  EXPECT_THAT(log_mel(oracle_clip(200)).error().message(), HasSubstr("200 samples are too few to mirror 200"));
  EXPECT_EQ(log_mel(oracle_clip(0)).error().kind(), ErrorKind::InvalidArgument);
}

TEST(Spectrum, TakesMonoSoundOnly) {
  const std::vector<float> samples(1000);
  EXPECT_TRUE(log_mel(Tensor::from(samples, {1000, 1})));
  EXPECT_THAT(log_mel(Tensor::from(samples, {500, 2})).error().message(), HasSubstr("not float32[500,2]"));
  EXPECT_FALSE(log_mel(Tensor::from(std::vector<double>(1000), {1000})));
}

TEST(Spectrum, SilenceIsTheFloor) {
  const Tensor silence = Tensor::from(std::vector<float>(1000), {1000});
  EXPECT_NEAR(log_mel(silence)->as<float>()[7], -100, 1e-4);
  EXPECT_NEAR(log_mel(silence, {.preset = SpectrumPreset::whisper})->as<float>()[7], -1.5, 1e-5);
  EXPECT_NEAR(log_mel(silence, {.log = SpectrumLog::ln_offset, .floor = 1e-6})->as<float>()[7], std::log(1e-6), 1e-4);
}

TEST(Spectrum, SamplesThatAreNotFiniteAreNoError) {
  std::vector<float> samples(1000, 0.25F);
  samples[500] = std::nanf("");
  samples[900] = INFINITY;
  EXPECT_TRUE(log_mel(Tensor::from(samples, {1000}), {.preset = SpectrumPreset::whisper}));
  EXPECT_TRUE(mfcc(Tensor::from(samples, {1000})));
}

}  // namespace
}  // namespace headpond
