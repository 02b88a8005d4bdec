// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "headpond/base/math/portable.h"
#include "headpond/codec/sound/spectrum/spectrum_tables_internal.h"

namespace headpond {
namespace spectrum_internal {
namespace {

constexpr double kSlaneyStep = 200.0 / 3;  // Hz a mel, below kSlaneyBreak
constexpr double kSlaneyBreak = 1000;      // Hz
constexpr double kSlaneyRange = 6.4;       // frequencies rise by this factor in 27 mels above
constexpr double kPi = std::numbers::pi;

Settings preset_of(const SpectrumOptions& options) {
  const double half = static_cast<double>(options.sample_rate) / 2;
  Settings all = {.fft = 400,
                  .window_length = 400,
                  .hop = 0,
                  .window = SpectrumWindow::hann,
                  .edges = SpectrumEdges::reflect,
                  .drop_last = false,
                  .power = 2,
                  .scale = 1,
                  .remove_mean = false,
                  .pre_emphasis = 0,
                  .mels = 128,
                  .mel_scale = MelScale::htk,
                  .equal_areas = false,
                  .low_hz = 0,
                  .high_hz = half,
                  .log = SpectrumLog::decibel,
                  .floor = 1e-10,
                  .top_db = 0};
  if (options.preset == SpectrumPreset::librosa || options.preset == SpectrumPreset::whisper) {
    all.mel_scale = MelScale::slaney;
    all.equal_areas = true;
  }
  return all;
}

void set_librosa(Settings& all) {
  all.fft = 2048;
  all.edges = SpectrumEdges::zeros;
  all.top_db = 80;
}

void set_whisper(Settings& all) {
  all.drop_last = true;
  all.mels = 80;
  all.log = SpectrumLog::whisper;
}

void set_kaldi(Settings& all) {
  all.window = SpectrumWindow::povey;
  all.edges = SpectrumEdges::snip;
  all.scale = 32768;
  all.remove_mean = true;
  all.pre_emphasis = 0.97;
  all.mels = 80;
  all.mel_scale = MelScale::kaldi;
  all.low_hz = 20;
  all.log = SpectrumLog::ln;
  all.floor = 0x1p-23;
}

// Lengths follow from one another, and for kaldi from the rate.
void set_lengths(Settings& all, const SpectrumOptions& options) {
  const bool kaldi = options.preset == SpectrumPreset::kaldi;
  const int64_t usual = kaldi ? std::max<int64_t>(1, options.sample_rate / 40) : options.fft.value_or(all.fft);
  all.window_length = options.window_length.value_or(usual);
  const auto window = static_cast<uint64_t>(std::clamp<int64_t>(all.window_length, 1, kMaxPoints));
  const int64_t points = kaldi ? static_cast<int64_t>(std::bit_ceil(window)) : std::max(all.fft, all.window_length);
  all.fft = options.fft.value_or(points);
  int64_t hop = all.window_length / 2;
  if (options.preset == SpectrumPreset::librosa) hop = all.window_length / 4;
  if (options.preset == SpectrumPreset::whisper) hop = 160;
  if (kaldi) hop = options.sample_rate / 100;
  all.hop = options.hop.value_or(std::max<int64_t>(1, hop));
}

void set_given(Settings& all, const SpectrumOptions& options) {
  all.window = options.window.value_or(all.window);
  all.edges = options.edges.value_or(all.edges);
  all.drop_last = options.drop_last.value_or(all.drop_last);
  all.power = options.power.value_or(all.power);
  all.scale = options.scale.value_or(all.scale);
  all.remove_mean = options.remove_mean.value_or(all.remove_mean);
  all.pre_emphasis = options.pre_emphasis.value_or(all.pre_emphasis);
  all.mels = options.mels.value_or(all.mels);
  all.mel_scale = options.mel_scale.value_or(all.mel_scale);
  all.equal_areas = options.equal_areas.value_or(all.equal_areas);
  all.low_hz = options.low_hz.value_or(all.low_hz);
  all.high_hz = options.high_hz.value_or(all.high_hz);
  all.log = options.log.value_or(all.log);
  all.floor = options.floor.value_or(all.floor);
  all.top_db = options.top_db.value_or(all.top_db);
}

void require(bool holds, SpectrumKind kind, std::string_view what) {
  if (!holds) throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", name(kind), what)));
}

void check(const Settings& all, SpectrumKind kind, const SpectrumOptions& options) {
  const double half = static_cast<double>(options.sample_rate) / 2;
  require(options.sample_rate >= 1 && options.sample_rate <= INT32_MAX, kind, "sample_rate must be 1 to 2147483647");
  // Without fft the window decides.
  require(
      all.fft >= 1 && all.fft <= kMaxPoints, kind,
      fmt::format("{} must be 1 to {}", options.fft || !options.window_length ? "fft" : "window_length", kMaxPoints));
  require(all.window_length >= 1 && all.window_length <= all.fft, kind,
          fmt::format("window_length must be 1 to fft, {}", all.fft));
  require(all.hop >= 1 && all.hop <= INT32_MAX, kind, "hop must be 1 to 2147483647");
  require(all.power == 1 || all.power == 2, kind, "power must be 1 or 2");
  require(std::abs(all.scale) <= 1e9 && all.scale != 0, kind, "scale must be a number up to 1e9, not 0");
  require(all.pre_emphasis >= 0 && all.pre_emphasis <= 1, kind, "pre_emphasis must be 0 to 1");
  require(all.mels >= 1 && all.mels <= 4096, kind, "mels must be 1 to 4096");
  require(all.low_hz >= 0 && all.low_hz < all.high_hz && all.high_hz <= half, kind,
          fmt::format("0 <= low_hz < high_hz <= {}, half the rate, must hold", half));
  require(all.floor >= 1e-37 && all.floor <= 1e37, kind, "floor must be 1e-37 to 1e37");
  require(all.top_db >= 0 && all.top_db <= 1e6, kind, "top_db must be 0 to 1e6");
  require(kind != SpectrumKind::mfcc || (options.coefficients >= 1 && options.coefficients <= all.mels), kind,
          fmt::format("coefficients must be 1 to mels, {}", all.mels));
}

double window_at(SpectrumWindow window, int64_t i, int64_t length) {
  const double turn = 2 * kPi * static_cast<double>(i);
  const auto whole = static_cast<double>(length);
  switch (window) {
    case SpectrumWindow::hann:
      return 0.5 - 0.5 * portable::cos(turn / whole);
    case SpectrumWindow::hamming:
      return 0.54 - 0.46 * portable::cos(turn / whole);
    case SpectrumWindow::povey:
      return length == 1 ? 1 : portable::pow(std::max(0.0, 0.5 - 0.5 * portable::cos(turn / (whole - 1))), 0.85);
    case SpectrumWindow::rectangular:
      return 1;
  }
  return 1;
}

// The corners of the filters, in the unit in which they are triangles.
std::vector<double> corners(const Settings& all) {
  const double low = mels_of(all.mel_scale, all.low_hz);
  const double high = mels_of(all.mel_scale, all.high_hz);
  std::vector<double> found;
  for (int64_t i = 0; i < all.mels + 2; ++i) {
    const double mels = low + (high - low) * static_cast<double>(i) / static_cast<double>(all.mels + 1);
    found.push_back(all.mel_scale == MelScale::kaldi ? mels : hz_of(all.mel_scale, mels));
  }
  return found;
}

}  // namespace

double mels_of(MelScale scale, double hz) {
  if (scale == MelScale::htk) return 2595 * portable::log10(1 + hz / 700);
  if (scale == MelScale::kaldi) return 1127 * portable::log(1 + hz / 700);
  if (hz < kSlaneyBreak) return hz / kSlaneyStep;
  return kSlaneyBreak / kSlaneyStep + portable::log(hz / kSlaneyBreak) * 27 / portable::log(kSlaneyRange);
}

double hz_of(MelScale scale, double mels) {
  if (scale == MelScale::htk) return 700 * (portable::pow(10, mels / 2595) - 1);
  if (scale == MelScale::kaldi) return 700 * (portable::exp(mels / 1127) - 1);
  const double above = mels - kSlaneyBreak / kSlaneyStep;
  if (above < 0) return mels * kSlaneyStep;
  return kSlaneyBreak * portable::exp(above * portable::log(kSlaneyRange) / 27);
}

Settings settings_of(SpectrumKind kind, const SpectrumOptions& options) {
  Settings all = preset_of(options);
  if (options.preset == SpectrumPreset::librosa) set_librosa(all);
  if (options.preset == SpectrumPreset::whisper) set_whisper(all);
  if (options.preset == SpectrumPreset::kaldi) set_kaldi(all);
  if (kind == SpectrumKind::mfcc) {
    all.log = SpectrumLog::decibel;
    all.top_db = 80;
    all.floor = options.preset == SpectrumPreset::kaldi ? all.floor : 1e-10;
  }
  set_lengths(all, options);
  set_given(all, options);
  check(all, kind, options);
  return all;
}

}  // namespace spectrum_internal

using namespace spectrum_internal;

namespace {

void fill_filters(Spectrum::Tables& to) {
  const Settings& all = to.settings;
  const std::vector<double> corner = corners(all);
  std::vector<double> place;
  for (int64_t bin = 0; bin < to.bins; ++bin) {
    const double hz = static_cast<double>(bin * to.options.sample_rate) / static_cast<double>(all.fft);
    place.push_back(all.mel_scale == MelScale::kaldi ? mels_of(all.mel_scale, hz) : hz);
  }
  for (int64_t mel = 0; mel < all.mels; ++mel) {
    const auto at = static_cast<size_t>(mel);
    const double left = corner[at], middle = corner[at + 1], right = corner[at + 2];
    Filter filter = {.first = 0, .count = 0, .weights = to.weights.size()};
    for (int64_t bin = 0; bin < to.bins; ++bin) {
      const double x = place[static_cast<size_t>(bin)];
      double weight = std::min((x - left) / (middle - left), (right - x) / (right - middle));
      if (all.equal_areas) weight *= 2 / (right - left);
      if (!(weight > 0)) continue;
      if (filter.count == 0) filter.first = bin;
      ++filter.count;
      to.weights.push_back(static_cast<float>(weight));
    }
    to.filters.push_back(filter);
  }
}

void fill_dct(Spectrum::Tables& to) {
  const auto mels = static_cast<double>(to.settings.mels);
  for (int64_t mel = 0; mel < to.settings.mels; ++mel) {
    for (int64_t k = 0; k < to.options.coefficients; ++k) {
      const double norm = std::sqrt((k == 0 ? 1 : 2) / mels);
      const auto part = static_cast<double>((2 * mel + 1) * k % (4 * to.settings.mels));
      to.dct.push_back(static_cast<float>(norm * portable::cos(kPi * part / (2 * mels))));
    }
  }
}

float log_factor_of(const Settings& all) {
  if (all.log == SpectrumLog::ln || all.log == SpectrumLog::ln_offset) return 1;
  const double per_decade = all.log == SpectrumLog::whisper ? 1 : all.power == 1 ? 20 : 10;
  return static_cast<float>(per_decade * std::numbers::log10e);
}

}  // namespace

Spectrum::Tables::Tables(SpectrumKind what, const SpectrumOptions& given)
    : kind(what),
      options(given),
      settings(settings_of(what, given)),
      plan(make_fft_plan(settings.fft)),
      bins(settings.fft / 2 + 1),
      left(settings.edges == SpectrumEdges::snip ? 0 : (settings.fft - settings.window_length) / 2),
      first(settings.edges == SpectrumEdges::snip ? 0 : left - settings.fft / 2),
      log_factor(log_factor_of(settings)) {
  for (int64_t i = 0; i < settings.window_length; ++i) {
    window.push_back(settings.scale * window_at(settings.window, i, settings.window_length));
  }
  if (kind >= SpectrumKind::mel_spectrogram) fill_filters(*this);
  if (kind == SpectrumKind::mfcc) fill_dct(*this);
}

int64_t Spectrum::Tables::frames(int64_t n) const {
  const bool snip = settings.edges == SpectrumEdges::snip;
  const int64_t last = snip ? n - settings.window_length : n + 2 * (settings.fft / 2) - settings.fft;
  const int64_t all = last < 0 ? 0 : 1 + last / settings.hop;
  return settings.drop_last ? std::max<int64_t>(0, all - 1) : all;
}

int64_t Spectrum::Tables::width() const {
  if (kind == SpectrumKind::stft) return 2 * bins;
  return kind == SpectrumKind::spectrogram ? bins : settings.mels;
}

}  // namespace headpond
