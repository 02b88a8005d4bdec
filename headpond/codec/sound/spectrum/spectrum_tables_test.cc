// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "headpond/codec/sound/spectrum/spectrum_tables_internal.h"

namespace headpond {
namespace {

using spectrum_internal::Settings;
using spectrum_internal::settings_of;

Settings settings_with(const SpectrumOptions& options) { return settings_of(SpectrumKind::log_mel, options); }

TEST(SpectrumTables, FillInTheNumbersOfEachPreset) {
  const Settings torchaudio = settings_with({});
  EXPECT_EQ(torchaudio.fft, 400);
  EXPECT_EQ(torchaudio.hop, 200);
  EXPECT_EQ(torchaudio.mels, 128);
  const Settings librosa = settings_with({.preset = SpectrumPreset::librosa});
  EXPECT_EQ(librosa.fft, 2048);
  EXPECT_EQ(librosa.hop, 512);
  EXPECT_EQ(librosa.top_db, 80);
  const Settings whisper = settings_with({.preset = SpectrumPreset::whisper});
  EXPECT_EQ(whisper.hop, 160);
  EXPECT_TRUE(whisper.drop_last);
  const Settings kaldi = settings_with({.preset = SpectrumPreset::kaldi, .sample_rate = 8000});
  EXPECT_EQ(kaldi.window_length, 200);
  EXPECT_EQ(kaldi.hop, 80);
  EXPECT_EQ(kaldi.fft, 256);
}

TEST(SpectrumTables, LetLengthsFollowFromThoseThatAreGiven) {
  EXPECT_EQ(settings_with({.fft = 512}).window_length, 512);
  EXPECT_EQ(settings_with({.fft = 512}).hop, 256);
  EXPECT_EQ(settings_with({.window_length = 320}).fft, 400);
  EXPECT_EQ(settings_with({.window_length = 600}).fft, 600);
  EXPECT_EQ(settings_with({.preset = SpectrumPreset::kaldi, .window_length = 600}).fft, 1024);
}

TEST(SpectrumTables, CountFramesAtTheBoundaries) {
  using Tables = Spectrum::Tables;
  const Tables centred(SpectrumKind::stft, {.hop = 160, .edges = SpectrumEdges::zeros});
  EXPECT_EQ(centred.frames(0), 1);
  EXPECT_EQ(centred.frames(159), 1);
  EXPECT_EQ(centred.frames(160), 2);
  const Tables odd(SpectrumKind::stft, {.fft = 5, .hop = 2, .edges = SpectrumEdges::zeros});
  EXPECT_EQ(odd.frames(0), 0);
  EXPECT_EQ(odd.frames(2), 1);
  EXPECT_EQ(odd.frames(3), 2);
  const Tables snipped(SpectrumKind::stft, {.preset = SpectrumPreset::kaldi});
  EXPECT_EQ(snipped.frames(399), 0);
  EXPECT_EQ(snipped.frames(400), 1);
  EXPECT_EQ(snipped.frames(559), 1);
  EXPECT_EQ(snipped.frames(560), 2);
  const Tables dropped(SpectrumKind::stft, {.preset = SpectrumPreset::whisper});
  EXPECT_EQ(dropped.frames(480000), 3000);
}

TEST(SpectrumTables, ConvertMelsBothWays) {
  for (const MelScale scale : {MelScale::htk, MelScale::slaney, MelScale::kaldi}) {
    for (const double hz : {0.0, 20.0, 999.0, 1000.0, 1001.0, 8000.0, 24000.0}) {
      EXPECT_NEAR(spectrum_internal::hz_of(scale, spectrum_internal::mels_of(scale, hz)), hz, 1e-9 * hz);
    }
  }
  EXPECT_NEAR(spectrum_internal::mels_of(MelScale::slaney, 1000), 15, 1e-12);
}

TEST(SpectrumTables, EqualAreasMakeTheSumsOfWideFiltersEqual) {
  const Spectrum::Tables tables(SpectrumKind::mel_spectrogram,
                                {.preset = SpectrumPreset::librosa, .fft = 8192, .mels = 10});
  for (const auto& filter : tables.filters) {
    const auto first = tables.weights.begin() + static_cast<std::ptrdiff_t>(filter.weights);
    const double sum = std::accumulate(first, first + filter.count, 0.0);
    EXPECT_NEAR(sum * 16000 / 8192, 1, 0.01);
  }
}

TEST(SpectrumTables, RefuseOptionsOutOfRange) {
  for (const SpectrumOptions& bad : std::vector<SpectrumOptions>{{.sample_rate = 0},
                                                                 {.sample_rate = int64_t{1} << 31},
                                                                 {.fft = 0},
                                                                 {.fft = 65537},
                                                                 {.fft = 400, .window_length = 401},
                                                                 {.window_length = 0},
                                                                 {.window_length = INT64_MIN},
                                                                 {.hop = 0},
                                                                 {.power = 3},
                                                                 {.scale = 0.0},
                                                                 {.scale = std::nan("")},
                                                                 {.pre_emphasis = 1.1},
                                                                 {.pre_emphasis = std::nan("")},
                                                                 {.mels = 0},
                                                                 {.mels = 4097},
                                                                 {.low_hz = -1.0},
                                                                 {.low_hz = 8000.0},
                                                                 {.high_hz = 8001.0},
                                                                 {.high_hz = std::nan("")},
                                                                 {.floor = 0.0},
                                                                 {.top_db = -1.0}}) {
    EXPECT_THROW(settings_with(bad), Exception);
  }
  EXPECT_THROW(settings_of(SpectrumKind::mfcc, {.coefficients = 129}), Exception);
  EXPECT_NO_THROW(settings_of(SpectrumKind::mfcc, {.coefficients = 128}));
}

}  // namespace
}  // namespace headpond
