// SPDX-License-Identifier: Apache-2.0
// Shared by the readers and the writer of TFRecord files: the layout of a frame, its verification, the message about a
// bad one, and how a file's first bytes tell its compression.
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
#include "headpond/base/system/prefetch.h"
#include "headpond/io/compression/compression.h"

namespace headpond::internal {

static_assert(std::endian::native == std::endian::little);
inline constexpr uint64_t kLengthBytes = 8, kCrcBytes = 4, kHeaderBytes = kLengthBytes + kCrcBytes;
inline constexpr uint64_t kFrameBytes = kHeaderBytes + kCrcBytes;  ///< A frame without its payload.

enum class FrameState : uint8_t {
  whole,
  cut_header,   ///< Fewer bytes than a header.
  bad_header,   ///< The length's checksum is wrong, so the next frame cannot be found.
  too_long,     ///< The payload exceeds the limit.
  cut_payload,  ///< The frame extends past the last byte.
  bad_payload,  ///< Only the payload's checksum is wrong.
};

struct Frame {
  FrameState state;
  uint64_t length;  ///< Length of the payload, as declared; meaningless for a truncated or bad header.
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The frame at `at`, of which `left` bytes can be read.
inline Frame look_at_header(const std::byte* at, uint64_t left, uint64_t longest_payload) {
  if (left < kHeaderBytes) return {FrameState::cut_header, 0};
  const auto length = load<uint64_t>(at);
  if (masked_crc32c_u64(length) != load<uint32_t>(at + kLengthBytes)) return {FrameState::bad_header, length};
  if (length > longest_payload) return {FrameState::too_long, length};
  if (left < kFrameBytes || length > left - kFrameBytes) return {FrameState::cut_payload, length};
  return {FrameState::whole, length};
}

/// The same, with the payload's checksum.
inline Frame look_at_frame(const std::byte* at, uint64_t left, uint64_t longest_payload) {
  Frame frame = look_at_header(at, left, longest_payload);
  if (frame.state != FrameState::whole) return frame;
  const std::byte* const payload = at + kHeaderBytes;
  // The next header is needed right after this payload, and may be far away.
  prefetch_to_read(payload + frame.length + kCrcBytes);
  const uint32_t crc = masked_crc32c_in_line(std::span(payload, frame.length));
  if (crc != load<uint32_t>(payload + frame.length)) frame.state = FrameState::bad_payload;
  return frame;
}

/// The place of a frame, for error messages.
struct FramePlace {
  std::string_view name;
  uint64_t offset;
  std::optional<uint64_t> record;
};

/// DataLoss with what was expected and what was found in `rest`, the known bytes from the frame on. At offset 0 also
/// what else the file may be. REQUIRES: the frame is not whole.
Error frame_error(const FramePlace& place, const Frame& frame, std::span<const std::byte> rest,
                  uint64_t longest_payload = UINT64_MAX);

/// The number of first bytes that guess_compression() reads.
inline constexpr size_t kStartBytes = 16;
/// True iff `all`, the content of a file shorter than a header, can be the start of a first frame of a length below
/// 2^32. Then the file is torn or still growing, even if its first bytes look like a compression.
bool is_front_of_header(std::span<const std::byte> all);
/// The compression of a record file that begins with `start`; `none` if none is recognised.
Compression guess_compression(std::span<const std::byte> start);

}  // namespace headpond::internal
