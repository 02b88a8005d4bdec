// SPDX-License-Identifier: Apache-2.0
// Sound files of any supported format, told by their first bytes: WAV by wav.h; FLAC, MP3, Vorbis, Opus and AIFF by
// libsndfile. Pure functions over bytes in memory, thread-safe. Error messages begin with `name`, the file's name.
// Without libsndfile (the CMake option HEADPOND_SNDFILE) decoding other files than WAV, and sound_info() of MP3, Vorbis
// and Opus, return Unimplemented, which names the component.
//
// Samples of WAV, FLAC and AIFF have the same bits everywhere. Those of MP3, Vorbis and Opus follow from the libraries
// that libsndfile was built with and from the CPU; they differ in the last bits. Of those libraries, mpg123 writes
// notes about damage to stderr, and libsndfile 1.2 keeps 6 KB for each Vorbis file whose head is damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/codec/sound/channels.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// True iff libsndfile is there.
bool has_sndfile();

enum class SoundFormat : uint8_t { wav, flac, mp3, vorbis, opus, aiff };
/// "FLAC".
std::string_view name(SoundFormat format);

/// See WavOptions. A range of a FLAC or AIFF file is found by seeking; other files are decoded from their start.
struct SoundOptions {
  int64_t desired_channels = -1;
  int64_t desired_samples = -1;
  int64_t first_sample = 0;
  /// Accepts a file with fewer frames than it states, or with damage: what comes before it is decoded, and MP3 goes on
  /// after it. For WAV as WavOptions::lenient.
  bool lenient = false;
  int32_t max_channels = 64;
  SoundMix mix = SoundMix::first;
  NonFinite non_finite = NonFinite::keep;
  int32_t rate = 0;
  int32_t sample_rate = 0;  ///< As WavOptions::sample_rate: librosa.load(path, sr=16000).
  /// Frames that are decoded, times the file's channels; 1 GiB of floats. With sample_rate also those of the result.
  int64_t max_values = int64_t{1} << 28;
};

/// Facts in a file's head.
struct SoundInfo {
  SoundFormat format = SoundFormat::wav;
  int32_t rate = 0;      ///< Frames per second; > 0. Of Opus, the rate at which it is decoded.
  int32_t channels = 0;  ///< > 0.
  int64_t frames = -1;   ///< -1: the file does not say (FLAC from a stream); decoding tells.

  friend bool operator==(const SoundInfo&, const SoundInfo&) = default;
};

/// Reads the head of a file of `file_bytes`, the first bytes of it, or all of it; sample_rate changes nothing here.
/// WAV, FLAC and AIFF need what comes before the samples only, MP3, Vorbis and Opus the whole file; FailedPrecondition
/// says how many bytes are needed. Other errors as decode_sound(), as far as they can be seen without decoding.
Result<SoundInfo> sound_info(std::span<const std::byte> head, uint64_t file_bytes, const SoundOptions& options = {},
                             std::string_view name = "sound");

struct Sound {
  Tensor samples;    ///< f32 [frames, channels], in [-1, 1] but for floats and lossy formats, which may exceed it.
  int32_t rate = 0;  ///< Of the samples: SoundOptions::sample_rate, if that is given.
  bool is_truncated = false;  ///< Lenient only: frames are missing, or damaged.
};

/// Decodes a whole file.
///
/// InvalidArgument iff it is no sound file (the message says what it looks like: "HTML"), it contradicts itself, its
/// rate is not the required one or cannot be resampled to sample_rate (see resample()), a value is not finite and is to
/// be rejected, an option is out of range, or first_sample is after the last frame. Unimplemented for formats, codecs
/// and forms that are not supported. DataLoss iff it is damaged or has fewer frames than it states. ResourceExhausted
/// iff there are more than max_channels channels or max_values values. For WAV, other errors as decode_wav().
///
/// Not noticed: an MP3 file without a number of frames in its first frame that ends between two frames, and flipped
/// bits that still decode; FLAC has a checksum for each frame, the others have none that is used here.
Result<Sound> decode_sound(std::span<const std::byte> file, const SoundOptions& options = {},
                           std::string_view name = "sound");

}  // namespace headpond
