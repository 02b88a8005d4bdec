// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond {
namespace internal {
namespace {

// The first chunk of the framing format, https://github.com/google/snappy/blob/main/framing_format.txt.
constexpr std::array<uint8_t, 10> kSnappyStart = {0xff, 0x06, 0x00, 0x00, 's', 'N', 'a', 'P', 'p', 'Y'};

uint32_t byte_at(std::span<const std::byte> bytes, size_t i) { return static_cast<uint32_t>(bytes[i]); }

// TensorFlow's own framing has no magic: a big-endian length, then a raw stream, which begins with the inflated length
// in groups of seven bits, and a literal.
bool is_snappy_block(std::span<const std::byte> start) {
  if (start.size() < kStartBytes || byte_at(start, 0) != 0) return false;
  const uint32_t packed = byte_at(start, 1) << 16 | byte_at(start, 2) << 8 | byte_at(start, 3);
  uint64_t plain = 0;
  size_t at = 4;
  for (int shift = 0; shift < 35; shift += 7, ++at) {
    plain |= uint64_t{byte_at(start, at) & 127} << shift;
    if (byte_at(start, at) < 128) break;
  }
  if (at == 9 || (byte_at(start, at + 1) & 3) != 0) return false;
  return packed > 12 && plain >= kFrameBytes && packed <= 32 + plain + plain / 6 && plain <= uint64_t{packed} * 64;
}

std::string hint(std::span<const std::byte> start) {
  switch (guess_compression(start)) {
    case Compression::gzip:
      return "; the file is compressed by gzip";
    case Compression::zlib:
      return "; the file may be compressed by zlib";
    case Compression::snappy:
      return "; the file may be compressed by Snappy";
    default:
      break;
  }
  const std::string_view other = unsupported_compression(start);
  return other.empty() ? "; it may not be a record file"
                       : fmt::format("; the file is compressed by {}, which is not supported", other);
}

std::string what_is_wrong(const Frame& frame, std::span<const std::byte> rest, uint64_t longest_payload) {
  switch (frame.state) {
    case FrameState::cut_header:
      return fmt::format("truncated record: a header of {} bytes expected, {} found", kHeaderBytes, rest.size());
    case FrameState::bad_header:
      return fmt::format("corrupted record length: checksum {:08x} expected, {:08x} found",
                         masked_crc32c_u64(load<uint64_t>(rest.data())), load<uint32_t>(&rest[kLengthBytes]));
    case FrameState::too_long:
      return fmt::format("a record of {} bytes: the limit is {}, {} bytes found", frame.length, longest_payload,
                         rest.size() - kHeaderBytes);
    case FrameState::cut_payload:
      return fmt::format("truncated record: {} bytes and a checksum expected, {} bytes found", frame.length,
                         rest.size() - kHeaderBytes);
    default:
      const auto payload = rest.subspan(kHeaderBytes, frame.length);
      return fmt::format("corrupted record: checksum {:08x} expected, {:08x} found", masked_crc32c(payload),
                         load<uint32_t>(payload.data() + frame.length));
  }
}

}  // namespace

Compression guess_compression(std::span<const std::byte> start) {
  const bool is_plain = start.size() >= kHeaderBytes &&
                        look_at_header(start.data(), start.size(), UINT64_MAX).state != FrameState::bad_header;
  if (is_plain) return Compression::none;
  if (is_gzip(start)) return Compression::gzip;
  const auto snappy = std::as_bytes(std::span(kSnappyStart));
  if (start.size() >= snappy.size() && std::equal(snappy.begin(), snappy.end(), start.begin()))
    return Compression::snappy;
  if (is_zlib(start)) return Compression::zlib;
  return is_snappy_block(start) ? Compression::snappy : Compression::none;
}

bool is_front_of_header(std::span<const std::byte> all) {
  if (all.empty() || all.size() >= kHeaderBytes) return false;
  std::array<std::byte, kLengthBytes> length = {};
  std::copy_n(all.begin(), std::min(all.size(), kLengthBytes), length.begin());
  const auto value = load<uint64_t>(length.data());
  if (value > UINT32_MAX) return false;
  if (all.size() <= kLengthBytes) return true;
  const uint32_t crc = masked_crc32c_u64(value);
  return std::memcmp(&crc, &all[kLengthBytes], all.size() - kLengthBytes) == 0;
}

Error frame_error(const FramePlace& place, const Frame& frame, std::span<const std::byte> rest,
                  uint64_t longest_payload) {
  std::string text =
      fmt::format("{}: {} at offset {}", place.name, what_is_wrong(frame, rest, longest_payload), place.offset);
  if (place.record) text += fmt::format(", record {}", *place.record);
  if (place.offset == 0 && frame.state != FrameState::bad_payload)
    text += hint(rest.first(std::min(rest.size(), kStartBytes)));
  return Error(ErrorKind::DataLoss, std::move(text))
      .at({.source = std::string(place.name), .record = place.record, .offset = place.offset});
}

}  // namespace internal

Result<RecordFrame> read_frame(std::span<const std::byte> bytes, uint64_t offset, std::string_view name) {
  if (offset == bytes.size()) return fail(ErrorKind::OutOfRange, fmt::format("{}: the end of the records", name));
  if (offset > bytes.size()) {
    return fail(ErrorKind::DataLoss,
                fmt::format("{}: no record at offset {}: there are {} bytes", name, offset, bytes.size()));
  }
  const auto rest = bytes.subspan(offset);
  const internal::Frame frame = internal::look_at_frame(rest.data(), rest.size(), UINT64_MAX);
  if (frame.state != internal::FrameState::whole) {
    return fail(internal::frame_error({name, offset, std::nullopt}, frame, rest));
  }
  return RecordFrame{rest.subspan(internal::kHeaderBytes, frame.length), offset + internal::kFrameBytes + frame.length};
}

}  // namespace headpond
