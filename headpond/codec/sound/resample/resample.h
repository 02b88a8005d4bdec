// SPDX-License-Identifier: Apache-2.0
// Sound at another rate, by a windowed sinc: for each phase of the output a filter of few taps, as torchaudio's
// resample (J. O. Smith, "Digital audio resampling"). Values have the same bits on every processor, but for those of
// libsoxr. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/kernel.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// A windowed sinc with Hann's or Kaiser's window; or libsoxr's filters of high quality, which librosa takes, with the
/// component soxr: their values may differ by about 1e-7 between kinds of processors.
enum class ResampleMethod : uint8_t { sinc_hann, sinc_kaiser, soxr_hq };
/// Whether the library was built with the component soxr.
bool has_soxr();
/// "sinc_hann".
std::string_view name(ResampleMethod method);

struct ResampleOptions {
  int64_t from = 0;  ///< Frames per second, 1 to 768000; both must be given. See SoundOptions::sample_rate.
  int64_t to = 0;
  ResampleMethod method = ResampleMethod::sinc_hann;
  // Of a windowed sinc; soxr_hq takes none of them.
  int64_t width = 6;                 ///< Zero crossings of the sinc on each side, 1 to 256.
  double rolloff = 0.99;             ///< The cutoff as a part of half the lower rate, above 0 to 1.
  double beta = 14.769656459379492;  ///< The parameter of Kaiser's window, 0 to 100.

  friend bool operator==(const ResampleOptions&, const ResampleOptions&) = default;
};

/// From f32 [frames] or [frames, channels] at the rate `from` to ceil(frames to / from) frames at the rate `to`, within
/// 1e-5 of the formula in f64 for samples in [-1, 1]; samples outside the clip count as 0. Equal rates: the same
/// values. soxr_hq: libsoxr's values, with zeros after them where it gives fewer frames, as librosa has them.
/// InvalidArgument iff an option is out of range, the filters of all phases have more than 4 million taps (rates of
/// hardly any common divisor), for soxr_hq one rate is more than 256 times the other or there are more than 256
/// channels, or dtype or rank is another;
/// Unimplemented for soxr_hq without the component soxr.
Result<Tensor> resample(const Tensor& samples, const ResampleOptions& options);

/// The same as a kernel, which makes the filters once: resample({.from = 44100, .to = 16000}). Throws
/// Exception(InvalidArgument) iff an option is out of range, Exception(Unimplemented) without the component.
KernelRef resample(const ResampleOptions& options);

}  // namespace headpond
