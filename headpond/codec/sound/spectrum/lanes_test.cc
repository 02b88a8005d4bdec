// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "headpond/base/random.h"
#include "headpond/codec/sound/spectrum/lanes_internal.h"

namespace headpond::spectrum_internal {
namespace {

std::vector<float> noise_of(int64_t n) {
  Random random(11);
  std::vector<float> samples;
  for (int64_t i = 0; i < n; ++i) samples.push_back(random.uniform() - 0.5F);
  return samples;
}

// `run` of a clip's frames.
template <class Run>
std::vector<float> frames_by(const Spectrum::Tables& tables, const std::vector<float>& samples, Run run) {
  const int64_t frames = tables.frames(static_cast<int64_t>(samples.size()));
  std::vector<float> out(static_cast<size_t>(frames * tables.width()), -1.0F);
  std::vector<float> scratch(scratch_floats(tables), std::nanf(""));
  run(LanesJob{.tables = &tables,
               .samples = samples.data(),
               .n = static_cast<int64_t>(samples.size()),
               .frames = frames,
               .out = out.data(),
               .mels_first = tables.options.mels_first,
               .scratch = scratch.data()});
  return out;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

struct Case {
  SpectrumKind kind;
  SpectrumOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const SpectrumPreset preset :
       {SpectrumPreset::torchaudio, SpectrumPreset::librosa, SpectrumPreset::whisper, SpectrumPreset::kaldi}) {
    for (const bool first : {false, true}) {
      all.push_back({SpectrumKind::log_mel,
                     {.preset = preset, .fft = 512, .window_length = 402, .mels = 37, .mels_first = first}});
      all.push_back({SpectrumKind::stft, {.preset = preset, .fft = 60, .window_length = 60, .mels_first = first}});
    }
  }
  for (const int64_t fft : {1, 2, 3, 5, 7, 14, 45, 77, 98, 240}) {
    all.push_back({SpectrumKind::spectrogram, {.fft = fft, .hop = 3, .power = 1 + fft % 2, .high_hz = 8000.0}});
  }
  all.push_back({SpectrumKind::log_mel, {.mels = 20, .log = SpectrumLog::ln_offset, .floor = 1e-6}});
  return all;
}

TEST(SpectrumLanes, HaveTheSameBitsOnEveryTargetAndInTheScalarTwin) {
  for (const Case& one : cases()) {
    const Spectrum::Tables tables(one.kind, one.options);
    for (const int64_t n : {257, 3001}) {
      const std::vector<float> samples = noise_of(n);
      const std::vector<float> expected = frames_by(tables, samples, run_lanes_scalar);
      for (const std::string_view target : lanes_targets()) {
        const auto run = [&](const LanesJob& job) { run_lanes_on(target, job); };
        ASSERT_TRUE(same(frames_by(tables, samples, run), expected)) << target << " " << tables.settings.fft;
      }
      ASSERT_TRUE(same(frames_by(tables, samples, run_lanes), expected));
    }
  }
}

TEST(SpectrumLanes, ControlOneSampleALittleOffChangesBits) {
  const Spectrum::Tables tables(SpectrumKind::stft, {});
  std::vector<float> samples = noise_of(1000);
  const std::vector<float> expected = frames_by(tables, samples, run_lanes);
  samples[500] = samples[500] + 1e-6F;
  EXPECT_FALSE(same(frames_by(tables, samples, run_lanes), expected));
}

// The largest error of a frame's transform by its formula, as a part of the largest value.
double error_of_transform(int64_t fft, int64_t shift) {
  const Spectrum::Tables tables(
      SpectrumKind::stft,
      {.fft = fft, .window_length = fft, .window = SpectrumWindow::rectangular, .edges = SpectrumEdges::snip});
  const std::vector<float> samples = noise_of(fft);
  const std::vector<float> found = frames_by(tables, samples, run_lanes);
  double error = 0;
  double largest = 0;
  for (int64_t bin = 0; bin <= fft / 2; ++bin) {
    double re = 0;
    double im = 0;
    for (int64_t i = 0; i < fft; ++i) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(bin * (i + shift) % fft) / static_cast<double>(fft);
      re += std::cos(angle) * static_cast<double>(samples[static_cast<size_t>(i)]);
      im -= std::sin(angle) * static_cast<double>(samples[static_cast<size_t>(i)]);
    }
    const auto at = static_cast<size_t>(2 * bin);
    error = std::max(
        {error, std::abs(re - static_cast<double>(found[at])), std::abs(im - static_cast<double>(found[at + 1]))});
    largest = std::max(largest, std::hypot(re, im));
  }
  return error / largest;
}

TEST(SpectrumLanes, TransformAsTheFormulaDoes) {
  for (const int64_t fft : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 25, 27, 49, 60, 66, 101, 128, 202, 400, 512}) {
    EXPECT_LT(error_of_transform(fft, 0), 1e-6) << fft;
  }
}

TEST(SpectrumLanes, ControlAShiftByOneSampleIsNotTheTransform) { EXPECT_GT(error_of_transform(60, 1), 0.1); }

// Thirty tones, and one that is 70 dB weaker than each of them, a few bins away; `tables` is of a spectrogram without a
// window. The largest error of the weak one in dB, over many phases.
double error_beside_strong_tones(const Spectrum::Tables& tables) {
  const int64_t fft = tables.settings.fft, first_strong = 11, strong = 30, weak = 4;
  double worst = 0;
  Random random(3);
  for (int times = 0; times < 12; ++times) {
    std::vector<double> tones(static_cast<size_t>(fft));
    const auto add = [&](int64_t bin, double amplitude) {
      const auto phase = static_cast<double>(random.uniform());
      for (int64_t i = 0; i < fft; ++i) {
        const double turn = static_cast<double>(bin * i % fft) / static_cast<double>(fft) + phase;
        tones[static_cast<size_t>(i)] += amplitude * std::sin(2 * std::numbers::pi * turn);
      }
    };
    for (int64_t i = 0; i < strong; ++i) add(first_strong + i, 0.03);
    add(weak, 1e-5);
    const std::vector<float> samples(tones.begin(), tones.end());
    double re = 0, im = 0;
    for (int64_t i = 0; i < fft; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(weak * i % fft) / static_cast<double>(fft);
      re += std::cos(angle) * static_cast<double>(samples[static_cast<size_t>(i)]);
      im -= std::sin(angle) * static_cast<double>(samples[static_cast<size_t>(i)]);
    }
    const auto power = static_cast<double>(frames_by(tables, samples, run_lanes)[static_cast<size_t>(weak)]);
    worst = std::max(worst, std::abs(10 * std::log10(power / (re * re + im * im))));
  }
  return worst;
}

TEST(SpectrumLanes, GiveWeakBinsBesideStrongOnes) {
  for (const int64_t fft : {400, 512, 2048}) {
    Spectrum::Tables tables(
        SpectrumKind::spectrogram,
        {.fft = fft, .window_length = fft, .window = SpectrumWindow::rectangular, .edges = SpectrumEdges::snip});
    EXPECT_LT(error_beside_strong_tones(tables), 1e-4) << fft;
    // The control: all in single precision.
    tables.plan.wide_stages = 0;
    EXPECT_GT(error_beside_strong_tones(tables), 2e-4) << fft;
  }
}

TEST(SpectrumLanes, TakeLogarithmsOfAnyPower) {
  for (float scale = 1e-17F; scale < 1e17F; scale *= 7) {
    const Spectrum::Tables tables(SpectrumKind::log_mel, {.fft = 4,
                                                          .window = SpectrumWindow::rectangular,
                                                          .edges = SpectrumEdges::snip,
                                                          .mels = 1,
                                                          .log = SpectrumLog::ln,
                                                          .floor = 1e-37});
    const Spectrum::Tables linear(SpectrumKind::mel_spectrogram, tables.options);
    const std::vector<float> samples = {scale, -scale, scale / 2, scale};
    const float mel = frames_by(linear, samples, run_lanes)[0];
    EXPECT_NEAR(frames_by(tables, samples, run_lanes)[0], std::log(mel), 1e-5) << scale;
  }
}

TEST(SpectrumLanes, RefuseATargetThatThereIsNot) { EXPECT_THROW(run_lanes_on("AVX9", LanesJob{}), Exception); }

}  // namespace
}  // namespace headpond::spectrum_internal
