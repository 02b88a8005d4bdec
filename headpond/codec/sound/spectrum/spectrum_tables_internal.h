// SPDX-License-Identifier: Apache-2.0
// What a Spectrum computes once: options with the preset's numbers filled in, and tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/codec/sound/spectrum/fft_plan_internal.h"
#include "headpond/codec/sound/spectrum/spectrum.h"

namespace headpond {

namespace spectrum_internal {

/// The options, each with its value.
struct Settings {
  int64_t fft, window_length, hop;
  SpectrumWindow window;
  SpectrumEdges edges;
  bool drop_last;
  int64_t power;
  double scale;
  bool remove_mean;
  double pre_emphasis;
  int64_t mels;
  MelScale mel_scale;
  bool equal_areas;
  double low_hz, high_hz;
  SpectrumLog log;
  double floor, top_db;
};
/// Throws Exception(InvalidArgument) iff an option is out of range.
Settings settings_of(SpectrumKind kind, const SpectrumOptions& options);

double mels_of(MelScale scale, double hz);
double hz_of(MelScale scale, double mels);

/// The bins first, first + 1, ... of a mel filter, and where their weights begin.
struct Filter {
  int64_t first;
  int64_t count;
  size_t weights;
};

}  // namespace spectrum_internal

struct Spectrum::Tables {
  Tables(SpectrumKind kind, const SpectrumOptions& options);

  SpectrumKind kind;
  SpectrumOptions options;
  spectrum_internal::Settings settings;
  spectrum_internal::FftPlan plan;
  int64_t bins;                ///< points / 2 + 1
  int64_t left;                ///< Where the window begins in the points of the transform.
  int64_t first;               ///< Frame 0 begins at this sample, perhaps before the clip.
  std::vector<double> window;  ///< Times scale.
  std::vector<spectrum_internal::Filter> filters;
  std::vector<float> weights;
  std::vector<float> dct;  ///< [mels, coefficients]
  float log_factor = 1;    ///< Factor of the natural logarithm.

  /// Frames of a clip of n samples. REQUIRES: n >= 0.
  int64_t frames(int64_t n) const;
  /// Values of a frame before the DCT.
  int64_t width() const;
};

}  // namespace headpond
