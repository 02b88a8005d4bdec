// SPDX-License-Identifier: Apache-2.0
// What is read of a sound file without libsndfile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/codec/sound/sound_file.h"
#include "headpond/codec/sound/wav.h"

namespace headpond::sound_internal {

using Bytes = std::span<const std::byte>;

/// A number of `bytes` bytes, the highest first. REQUIRES: they lie in `from`.
inline uint64_t big_number(Bytes from, uint64_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<uint64_t>(from[at + static_cast<uint64_t>(i)]);
  return value;
}
inline bool has_text(Bytes from, uint64_t at, std::string_view text) {
  if (at > from.size() || from.size() - at < text.size()) return false;
  for (const char c : text) {
    if (from[at++] != static_cast<std::byte>(c)) return false;
  }
  return true;
}
/// The number of bytes of an ID3 tag at the start, 0 if there is none.
uint64_t id3_bytes(Bytes head);

/// The format by the first bytes. InvalidArgument, with what they look like, iff they are no sound; Unimplemented iff
/// they are sound of another format. FailedPrecondition iff more of a file of `file_bytes` is needed.
Result<SoundFormat> format_of(Bytes head, uint64_t file_bytes, std::string_view name);

/// What the head of a FLAC file or an AIFF file says. REQUIRES: it is of that format.
Result<SoundInfo> flac_info(Bytes head, uint64_t file_bytes, std::string_view name);
Result<SoundInfo> aiff_info(Bytes head, uint64_t file_bytes, std::string_view name);

/// The frames of an MP3 file, a few hundred samples each.
struct Mp3Frames {
  uint64_t first = 0;        ///< The offset of the first one with sound.
  int64_t frames = 0;        ///< Whole frames.
  int64_t stated = -1;       ///< What the file's first frame says; -1: nothing.
  uint64_t damage = 0;       ///< The first offset without a frame, if before the last frame; 0: there is none.
  bool ends_inside = false;  ///< The last frame is not whole.
  int64_t samples = 0;       ///< Samples of a frame and channel.
  /// For a file that does not state its number of frames: a frame that states frames + 1, then a silent frame.
  std::vector<std::byte> count;
};
/// REQUIRES: `file` is MP3. Unimplemented for other layers of MPEG audio, and free bit rates.
Result<Mp3Frames> mp3_frames(Bytes file, std::string_view name);

WavOptions wav_options(const SoundOptions& options);

/// The channels of what is decoded of a file with `own` ones. `Options`: of WAV, or of any sound.
template <class Options>
int64_t result_channels(const Options& options, int64_t own) {
  if (options.desired_channels >= 0) return options.desired_channels;
  return options.mix == SoundMix::mean ? 1 : own;
}

/// The errors that both libsndfile's part and the heads have.
Result<void> check_limits(const SoundInfo& info, const SoundOptions& options, std::string_view name);

/// Gives memory for f32 [frames, channels]. It is called once.
using MakeSamples = std::function<float*(int64_t frames, int64_t channels)>;

/// What is decoded beside the samples.
struct Decoded {
  int32_t rate = 0;
  bool is_truncated = false;
  int64_t frames = 0;  ///< Those of the file; zeros after its end do not count.
};

struct Resampler;  // sample_rate_internal.h

/// By libsndfile, or Unimplemented without it. REQUIRES: `format` is not WAV, the options are in their range.
Result<SoundInfo> library_info(Bytes file, SoundFormat format, const SoundOptions& options, std::string_view name);
Result<Decoded> library_decode(Bytes file, SoundFormat format, const SoundOptions& options, std::string_view name,
                               Resampler& resampler, const MakeSamples& make);

/// ResourceExhausted iff so many frames have more than `max_values` values in the file or in the result.
Result<void> check_values(int64_t frames, int64_t own_channels, int64_t channels, int64_t max_values,
                          std::string_view name);

/// decode_wav() into memory that `make` gives, with its errors, and the limit of check_values(). Without `max_values`
/// there is none, but for a resampled sound that of decode_wav().
Result<Decoded> decode_wav_to(Bytes file, const WavOptions& options, std::optional<int64_t> max_values,
                              std::string_view name, Resampler& resampler, const MakeSamples& make);
/// decode_sound() into memory that `make` gives.
Result<Decoded> decode_sound_to(Bytes file, const SoundOptions& options, std::string_view name, Resampler& resampler,
                                const MakeSamples& make);

}  // namespace headpond::sound_internal
