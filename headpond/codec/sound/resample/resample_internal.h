// SPDX-License-Identifier: Apache-2.0
// Filters of resample(), and its arithmetic over a part of a sound, so that a decoder needs only the frames around
// those that are wanted. Thread-safe, but for ResampleFilters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/codec/sound/resample/resample.h"

namespace headpond::sound_internal {

/// The highest rate that is resampled, in frames per second.
inline constexpr int64_t kMaxResampledRate = 768000;

/// Throws Exception(InvalidArgument) iff an option is out of range.
void check_resample(const ResampleOptions& options);

/// ceil(frames to / from). REQUIRES: frames >= 0; rates that check_resample() takes.
int64_t resampled_frames(int64_t frames, int64_t from, int64_t to);

/// Fills `to` with `samples` at another rate by libsoxr: resampled_frames() of `channels` values each, interleaved;
/// zeros where it gives fewer. REQUIRES: has_soxr(), channels > 0, rates that check_resample() takes for soxr_hq.
Result<void> resample_by_soxr(std::span<const float> samples, int64_t channels, const ResampleOptions& rates,
                              std::span<float> to);

/// One filter for each of the `to` phases; rates without their common divisor. Frame turn * to + p of the output is the
/// sum over k of taps[p * count + k] * x[turn * from + first[p] + k].
struct Polyphase {
  /// Throws Exception(InvalidArgument) iff there are too many taps. REQUIRES: check_resample(options).
  explicit Polyphase(const ResampleOptions& options);

  int64_t from, to;
  int64_t count;  ///< Taps of a filter.
  std::vector<int64_t> first = {};
  std::vector<float> taps = {};
};

/// Frames from `begin` to before `end`.
struct FrameRange {
  int64_t begin = 0, end = 0;

  friend bool operator==(const FrameRange&, const FrameRange&) = default;
};
/// The frames of the sound that the filters read for these frames of the result; some may be below 0, or after the last
/// one. REQUIRES: 0 <= begin < end.
FrameRange frames_read(const Polyphase& filters, const FrameRange& result);

/// Frames of a sound from its frame `begin` on, interleaved by channel.
struct SoundPart {
  std::span<const float> values;
  int64_t channels = 1;  ///< >= 0; of a sound without channels there are no values.
  int64_t begin = 0;
};
/// Fills `to` with frames of the result, from frame `first` on. What is outside `part` counts as 0, so they are those
/// of the whole sound iff `part` has all of its frames in frames_read(). REQUIRES: first >= 0. `scratch`: any.
void resample_part(const Polyphase& filters, const SoundPart& part, int64_t first, std::span<float> to,
                   std::vector<float>& scratch);

/// The filters of the pairs of rates that were needed last, at most 1 MiB of them; larger ones are made for each call.
/// One thread at a time.
class ResampleFilters {
 public:
  /// Those of resample({.from = from, .to = to}). Throws as resample().
  std::shared_ptr<const Polyphase> get(int64_t from, int64_t to);
  /// Pairs that are kept.
  size_t size() const { return kept_.size(); }

 private:
  struct Pair {
    int64_t from, to;
    std::shared_ptr<const Polyphase> filters;
  };
  std::vector<Pair> kept_;  // The one that was needed last at the end.
};

}  // namespace headpond::sound_internal
