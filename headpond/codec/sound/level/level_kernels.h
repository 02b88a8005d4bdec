// SPDX-License-Identifier: Apache-2.0
// Kernels for sounds: f32 [frames, channels], or [frames] where a kernel doesn't ask for channels. They pass on the
// fields after the first. All throw Exception(InvalidArgument) for an option out of range, and while a pipeline is
// built for a field that is no sound. Thread-safe.
#pragma once

#include <cstdint>

#include "headpond/tensor/kernel.h"

namespace headpond {

/// [frames, channels] to [frames, 1]: the mean of the channels (mean_of_channels(), channels.h). InvalidArgument for a
/// sound without channels.
KernelRef mono();

/// `samples` frames: the first ones, and zeros after a sound that has fewer. `samples` >= 0.
KernelRef pad_or_trim(int64_t samples);

struct SoundCropOptions {
  bool pad = true;  ///< A sound that has fewer frames is padded with zeros at its end; false: it stays as it is.
};

/// `samples` frames in a row from a random frame on, each equally often. `samples` >= 0. It draws
/// below(frames - samples + 1), or below(1). After decode_wav or decode_sound in one map only these frames are decoded.
KernelRef random_sound_crop(int64_t samples, const SoundCropOptions& options = {});

/// Decibels, lo <= hi.
struct DecibelRange {
  double lo = 0;
  double hi = 0;
};

/// Each value times 10^(db / 20) as float; values may leave [-1, 1]. `db`: -200 to 200. The range draws uniform(), and
/// takes lo + (hi - lo) u in double.
KernelRef gain_db(double db);
KernelRef gain_db(const DecibelRange& range);

/// Each value times `peak` / (the largest size of a value), as float, so that this becomes `peak` but for rounding; a
/// sound of zeros stays as it is. `peak` > 0 and finite. InvalidArgument for a sound with a value that is not finite.
KernelRef peak_normalize(double peak = 1);

/// Factors of speed, lo <= hi.
struct SpeedRange {
  double lo = 1;
  double hi = 1;
};

/// Faster and higher, or slower and lower: n frames become ceil(n / factor) of the same rate, by resample() from
/// factor * 100 to 100, as torchaudio's speed. `factor`: 0.25 to 4, rounded to hundredths. The range has all hundredths
/// from lo to hi; it draws below(their number).
KernelRef speed(double factor);
KernelRef speed(const SpeedRange& range);

}  // namespace headpond
