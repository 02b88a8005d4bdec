// SPDX-License-Identifier: Apache-2.0
// WAV sound (RIFF/WAVE, docs/formats/wav.md), decoded to f32 in [-1, 1] and encoded from it. Pure functions over bytes
// in memory, thread-safe. `name` stands in front of each error's text, with the offset and the chunk: a file's name.
// A data set is checked by the strict reading, which is the default; the lenient one takes what damaged or streamed
// files still hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// The first three are -1 or what is wanted of the samples; a frame is one sample of each channel.
struct WavOptions {
  int64_t desired_channels = -1;  ///< -1: the file's. Fewer: the first ones. More: the last one is repeated.
  int64_t desired_samples = -1;   ///< Frames. -1: all to the end. Fewer: cut. More: zeros at the end.
  int64_t first_sample = 0;       ///< The frame to begin with; nothing before it is touched.
  /// Takes a data chunk that is longer than the file, has no size (0xffffffff, or 0 with bytes behind it that neither
  /// the RIFF size excludes nor a usual chunk's id begins: a stream, taken to the file's end) or ends inside a frame; a
  /// block align or byte rate that does not follow from the format; an odd chunk without its pad byte (noticed by the
  /// usual id that follows, docs/formats/wav.md); bytes after the data that are no chunk.
  bool lenient = false;
  int32_t max_channels = 64;
};

/// What the header says.
struct WavInfo {
  int32_t rate = 0;      ///< Frames a second; > 0. Above 768,000 it is logged as a warning, once.
  int32_t channels = 0;  ///< 1 to max_channels.
  int64_t frames = 0;
  uint64_t data_offset = 0;   ///< Where the first frame begins.
  int32_t frame_bytes = 0;    ///< From one frame to the next.
  uint16_t code = 0;          ///< The format: 1 is PCM. An extensible header's is that of its GUID.
  uint16_t bits = 0;          ///< Of one value.
  bool is_truncated = false;  ///< Lenient only: frames, or a part of one, are missing at the end.

  friend bool operator==(const WavInfo&, const WavInfo&) = default;
};

/// Reads the header from `head`, the first bytes of a file of `file_bytes`, or all of it. What follows the data is
/// checked as far as `head` reaches. Supported: little-endian RIFF; PCM of 16 bits, as such or as extensible header.
///
/// InvalidArgument iff the content contradicts itself: no RIFF/WAVE magic; format chunk missing, short, long, twice, or
/// after the data; no data chunk or two; a chunk that is longer than the file; data without a size; no channels, a rate
/// of 0 or above 2^31 - 1; block align or byte rate that do not fit; a part of a frame. DataLoss iff the file ends
/// inside a header. Unimplemented, with code and depth, container or GUID, iff the form is another. ResourceExhausted
/// iff there are more than max_channels channels or 128 chunks. FailedPrecondition iff `head` ends before the data, or
/// within 4 bytes behind an empty data chunk, and the file does not: the text says how much is needed.
Result<WavInfo> wav_info(std::span<const std::byte> head, uint64_t file_bytes, const WavOptions& options = {},
                         std::string_view name = "wav");

struct Wav {
  Tensor samples;  ///< f32 [frames, channels] in [-1, 1]: a 16-bit value / 32768.
  int32_t rate = 0;
  bool is_truncated = false;
};

/// Decodes a whole file. Errors are those of wav_info; InvalidArgument iff an option is out of its range, or
/// first_sample is behind the last frame.
Result<Wav> decode_wav(std::span<const std::byte> file, const WavOptions& options = {}, std::string_view name = "wav");

/// The same straight into `place`, a row of a batch: float values, interleaved by channel. InvalidArgument, with both
/// sizes, iff the samples have not just as many bytes (with desired_channels and desired_samples they always do), or
/// the place is not aligned for float.
Result<WavInfo> decode_wav_into(std::span<const std::byte> file, std::span<std::byte> place,
                                const WavOptions& options = {}, std::string_view name = "wav");

/// Converts `frames`, whole frames of a file that has `info`, to `channels` channels in `place`, which holds as many
/// frames as fit; frames that it has more are zeros. So a part of a large file is read: info, then the bytes
/// from data_offset + first * frame_bytes on. InvalidArgument iff a size is no multiple of its frame, `place` is not
/// aligned for float, or the form is not supported.
Result<void> decode_wav_frames(const WavInfo& info, std::span<const std::byte> frames, int64_t channels,
                               std::span<std::byte> place);

/// A file of PCM 16 from f32 [frames, channels]: x * 32768 rounded to the nearest, halves away from zero, and limited
/// to [-32768, 32767]. So what was decoded is encoded to the same samples. InvalidArgument iff dtype or rank are
/// others, there are no channels or more than 32767, a value is NaN (named by frame and channel), the rate is not
/// positive or does not fit with the channels, or 4 GiB do not hold it.
Result<std::vector<std::byte>> encode_wav(const Tensor& audio, int32_t rate);

}  // namespace headpond
