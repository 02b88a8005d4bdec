// SPDX-License-Identifier: Apache-2.0
// What the readers and the writer of TFRecord files share: the layout of a frame, the check of one, what is said of a
// bad one, and what a file's first bytes tell of its compression.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/crc32c.h"
#include "headpond/base/status.h"
#include "headpond/io/file/compression.h"

namespace headpond::internal {

static_assert(std::endian::native == std::endian::little);
inline constexpr uint64_t kLengthBytes = 8, kCrcBytes = 4, kHeaderBytes = kLengthBytes + kCrcBytes;
inline constexpr uint64_t kFrameBytes = kHeaderBytes + kCrcBytes;  ///< Of a frame, without the payload.

enum class FrameState : uint8_t {
  whole,
  cut_header,   ///< Fewer bytes than a header.
  bad_header,   ///< The length's checksum does not fit: nobody knows where the next frame begins.
  too_long,     ///< A payload above the limit.
  cut_payload,  ///< The frame ends behind the last byte.
  bad_payload,  ///< Only the payload's checksum does not fit.
};

struct Frame {
  FrameState state;
  uint64_t length;  ///< Of the payload, as declared; of no meaning for a cut or bad header.
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The frame that begins at `at`, where `left` bytes can be read.
inline Frame look_at_header(const std::byte* at, uint64_t left, uint64_t longest_payload) {
  if (left < kHeaderBytes) return {FrameState::cut_header, 0};
  const auto length = load<uint64_t>(at);
  if (masked_crc32c_u64(length) != load<uint32_t>(at + kLengthBytes)) return {FrameState::bad_header, length};
  if (length > longest_payload) return {FrameState::too_long, length};
  if (left < kFrameBytes || length > left - kFrameBytes) return {FrameState::cut_payload, length};
  return {FrameState::whole, length};
}

/// The same, the payload's checksum included.
inline Frame look_at_frame(const std::byte* at, uint64_t left, uint64_t longest_payload) {
  Frame frame = look_at_header(at, left, longest_payload);
  if (frame.state != FrameState::whole) return frame;
  const std::byte* const payload = at + kHeaderBytes;
  // The next header is needed at once after this payload, and may be far behind it.
  __builtin_prefetch(payload + frame.length + kCrcBytes);
  const uint32_t crc = masked_crc32c_in_line(std::span(payload, frame.length));
  if (crc != load<uint32_t>(payload + frame.length)) frame.state = FrameState::bad_payload;
  return frame;
}

/// Where a frame is, for the text of an error.
struct FramePlace {
  std::string_view name;
  uint64_t offset;
  std::optional<uint64_t> record;
};

/// DataLoss with what was expected and what was found in `rest`, which begins at the frame and goes to the end of what
/// is known. At offset 0 also what the file may be instead. REQUIRES: the frame is not whole.
Error frame_error(const FramePlace& place, const Frame& frame, std::span<const std::byte> rest,
                  uint64_t longest_payload = UINT64_MAX);

/// How many first bytes guess_compression() looks at.
inline constexpr size_t kStartBytes = 16;
/// Whether a file that has no more than `all`, fewer bytes than a header, can be the front of a first frame, of a
/// length below 2^32: then it is torn or still arriving, whatever compression its first bytes look like.
bool is_front_of_header(std::span<const std::byte> all);
/// What a file of records that begins with `start` is compressed by. `none` also where nothing is recognised.
Compression guess_compression(std::span<const std::byte> start);

}  // namespace headpond::internal
