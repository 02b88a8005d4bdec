// SPDX-License-Identifier: Apache-2.0
// Sound at another rate, by a windowed sinc: for each phase of the output a filter of few taps, as torchaudio's
// resample (J. O. Smith, "Digital audio resampling"). Values have the same bits on every processor. Pure functions,
// thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/kernel.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// The window: Hann's or Kaiser's.
enum class ResampleMethod : uint8_t { sinc_hann, sinc_kaiser };
/// "sinc_hann".
std::string_view name(ResampleMethod method);

struct ResampleOptions {
  int64_t from = 0;  ///< Frames per second, 1 to 768000; both must be given. See SoundOptions::sample_rate.
  int64_t to = 0;
  ResampleMethod method = ResampleMethod::sinc_hann;
  int64_t width = 6;                 ///< Zero crossings of the sinc on each side, 1 to 256.
  double rolloff = 0.99;             ///< The cutoff as a part of half the lower rate, above 0 to 1.
  double beta = 14.769656459379492;  ///< The parameter of Kaiser's window, 0 to 100.

  friend bool operator==(const ResampleOptions&, const ResampleOptions&) = default;
};

/// From f32 [frames] or [frames, channels] at the rate `from` to ceil(frames to / from) frames at the rate `to`, within
/// 1e-5 of the formula in f64 for samples in [-1, 1]; samples outside the clip count as 0. Equal rates: the same
/// values. InvalidArgument iff an option is out of range, the filters of all phases have more than 4 million taps
/// (rates of hardly any common divisor), or dtype or rank is another.
Result<Tensor> resample(const Tensor& samples, const ResampleOptions& options);

/// The same as a kernel, which makes the filters once: resample({.from = 44100, .to = 16000}). Throws
/// Exception(InvalidArgument) iff an option is out of range.
KernelRef resample(const ResampleOptions& options);

}  // namespace headpond
