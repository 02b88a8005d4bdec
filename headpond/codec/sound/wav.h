// SPDX-License-Identifier: Apache-2.0
// WAV sound (RIFF/WAVE, docs/formats/wav.md), decoded to f32 in [-1, 1] and encoded from it. Pure functions over bytes
// in memory, thread-safe. Error messages begin with `name`, the file's name, and give the offset and the chunk. The
// default is strict reading, for checking data sets; lenient reading takes what damaged or streamed files still
// contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/codec/sound/channels.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// A frame is one sample of each channel.
struct WavOptions {
  int64_t desired_channels = -1;  ///< -1: the file's. Fewer: the first ones. More: the last one is repeated.
  int64_t desired_samples = -1;   ///< Frames. -1: all to the end. Fewer: truncated. More: zeros at the end.
  int64_t first_sample = 0;       ///< The first frame to decode; nothing before it is read.
  /// Accepts a data chunk that is longer than the file, has no size (0xffffffff; or 0 if bytes follow that the RIFF
  /// size does not exclude and that do not begin with the id of a usual chunk: a stream to the end of the file), or
  /// ends inside a frame; a block align or byte rate that contradicts the format; an odd chunk without its pad byte
  /// (recognised by the usual id that follows, docs/formats/wav.md); bytes after the data that are no chunk.
  bool lenient = false;
  int32_t max_channels = 64;
  SoundMix mix = SoundMix::first;          ///< `mean`: desired_channels must be -1 or 1.
  NonFinite non_finite = NonFinite::keep;  ///< How to treat infinity and NaN in decoded values.
  int32_t rate = 0;                        ///< A file with another rate is an InvalidArgument; 0: any rate.
  /// Frames per second of the result, 1 to 768000: the sound of a file with another rate is resampled, as resample()
  /// does by default. first_sample and desired_samples then count frames of the result: it is the same as if all of the
  /// file was decoded and resampled, and cut after that. 0: the file's rate.
  int32_t sample_rate = 0;
};

/// The content of the header.
struct WavInfo {
  int32_t rate = 0;      ///< Frames per second; > 0. Above 768,000 a warning is logged, once.
  int32_t channels = 0;  ///< 1 to max_channels.
  int64_t frames = 0;
  uint64_t data_offset = 0;   ///< The offset of the first frame.
  int32_t frame_bytes = 0;    ///< The distance between frames.
  uint16_t code = 0;          ///< The format: 1 is PCM. For an extensible header, that of its GUID.
  uint16_t bits = 0;          ///< Bits of a stored value.
  bool is_truncated = false;  ///< Lenient only: frames, or a part of one, are missing at the end.
  bool is_big_endian = false;

  friend bool operator==(const WavInfo&, const WavInfo&) = default;
};

/// Reads the header from `head`, the first bytes of a file of `file_bytes`, or all of it. Bytes after the data are
/// checked as far as `head` reaches. Supported: RIFF, RIFX (big-endian), RF64 and BW64 (sizes of 64 bits); with a plain
/// or an extensible header PCM of 8 (unsigned), 16, 24 and 32 bits, floats of 32 and 64 bits, A-law and mu-law.
///
/// InvalidArgument iff the content contradicts itself: no RIFF/WAVE magic; a format chunk that is missing, short, long,
/// double, or after the data; no data chunk, or two; RF64 or BW64 whose first chunk is not a whole ds64; a chunk that
/// is longer than the file; data without a size; no channels, a rate of 0 or above 2^31 - 1; a wrong block align or
/// byte rate; more valid bits than a value has; a part of a frame; or iff the rate is not options.rate. DataLoss iff
/// the file ends inside a header. Unimplemented, with code and depth, or GUID, for other forms. ResourceExhausted iff
/// there are more than max_channels channels or 128 chunks. FailedPrecondition iff `head` ends before the data, or
/// within 4 bytes after an empty data chunk, and the file does not: the message says how many bytes are needed.
Result<WavInfo> wav_info(std::span<const std::byte> head, uint64_t file_bytes, const WavOptions& options = {},
                         std::string_view name = "wav");

struct Wav {
  /// f32 [frames, channels] in [-1, 1]: a signed value of n bits / 2^(n - 1), (v - 128) / 128 for one of 8 bits, a
  /// law's value of 16 bits / 32768; each rounded once, to the nearest float. Floats as they are, also outside [-1, 1].
  Tensor samples;
  int32_t rate = 0;  ///< Of the samples: sample_rate, if that is given.
  bool is_truncated = false;
};

/// Decodes a whole file. Errors as wav_info(); InvalidArgument iff an option is out of range, first_sample is after the
/// last frame, or a value is not finite and is to be rejected. With sample_rate also InvalidArgument iff the file's
/// rate cannot be resampled to it (see resample()), and ResourceExhausted iff more than 2^28 values follow from the
/// file.
Result<Wav> decode_wav(std::span<const std::byte> file, const WavOptions& options = {}, std::string_view name = "wav");

/// The same into `target`, a row of a batch: float values, interleaved by channel. InvalidArgument, with both sizes,
/// iff the samples do not fill `target` exactly (given desired_channels and desired_samples, their number is fixed), or
/// it is not aligned for float. Returns what the header says: rate and frames of the file, also with sample_rate.
Result<WavInfo> decode_wav_into(std::span<const std::byte> file, std::span<std::byte> target,
                                const WavOptions& options = {}, std::string_view name = "wav");

/// Converts `frames`, whole frames of a file with `info`, to `channels` channels: as many frames as `target` has room
/// for, and zeros in the rest of it. This reads a part of a large file: info first, then the bytes from data_offset +
/// first * frame_bytes on. Fewer channels are the first ones; values that are not finite are kept. InvalidArgument iff
/// a size is no multiple of its frame, `target` is not aligned for float, or the form is not supported.
Result<void> decode_wav_frames(const WavInfo& info, std::span<const std::byte> frames, int64_t channels,
                               std::span<std::byte> target);

/// Encodes f32 [frames, channels] as PCM 16: x * 32768 rounded to the nearest, halves away from zero, limited to
/// [-32768, 32767]. Decoded samples are encoded to the same file values. InvalidArgument iff dtype or rank are others,
/// there are no channels or more than 32767, a value is NaN (with frame and channel), the rate is not positive or too
/// high for the channels, or the file would exceed 4 GiB.
Result<std::vector<std::byte>> encode_wav(const Tensor& audio, int32_t rate);

}  // namespace headpond
