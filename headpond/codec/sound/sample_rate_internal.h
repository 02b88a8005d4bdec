// SPDX-License-Identifier: Apache-2.0
// The decoders' option sample_rate: only the frames are decoded that the wanted frames of the resampled sound follow
// from. Thread-safe, but for Resampler.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "headpond/codec/sound/resample/resample_internal.h"
#include "headpond/codec/sound/sound_file_internal.h"

namespace headpond::sound_internal {

/// What is kept from one file to the next. One thread at a time.
struct Resampler {
  ResampleFilters filters = {};
  std::vector<float> scratch = {};
};

/// True iff a file of this rate is resampled for the option `sample_rate`.
inline bool is_resampled(int32_t rate, int32_t sample_rate) { return sample_rate != 0 && sample_rate != rate; }

/// The frames of a sound after decoding with `sample_rate`. InvalidArgument iff the rate of the file cannot be
/// resampled; ResourceExhausted iff no file has so many frames. REQUIRES: frames >= 0, sample_rate is in its range.
Result<int64_t> frames_at_rate(int64_t frames, int32_t rate, int32_t sample_rate, std::string_view name);

/// The frames that are wanted, counted at `sample_rate`.
struct WantedFrames {
  int64_t first = 0;
  int64_t desired = -1;  ///< -1: all to the end.
  int64_t channels = 0;  ///< Of the result.
  int32_t sample_rate = 0;
  int64_t max_values = 0;  ///< Those that follow from the file; the zeros after its end do not count.
};

/// Decodes `frames` frames of the file from its frame `first` on, or (-1) all to the end.
using DecodePart = std::function<Result<Decoded>(int64_t first, int64_t frames, const MakeSamples& make)>;

/// The wanted frames of the whole sound, resampled, with the same bits as resample() gives of all of it; only the
/// frames that they need are decoded. REQUIRES: is_resampled(info.rate, wanted.sample_rate), options in their range.
Result<Decoded> decode_at_rate(const SoundInfo& info, const WantedFrames& wanted, Resampler& resampler,
                               std::string_view name, const DecodePart& decode, const MakeSamples& make);

}  // namespace headpond::sound_internal
