// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/baseline/scan_index_internal.h"

#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

namespace headpond::jpeg_internal {
namespace {

constexpr std::string_view kMagic = "HPJI";
constexpr uint8_t kVersion = 1;
constexpr size_t kHead = 22, kChecksum = 4;
constexpr int64_t kMostDc = 1 << 15;
constexpr uint64_t kMostCount = 65'536;  // An image has at most 8,192 MCUs across or down.

uint64_t digest_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void put_number(std::vector<std::byte>& to, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put_varint(std::vector<std::byte>& to, uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<std::byte>(value | 128));
  to.push_back(static_cast<std::byte>(value));
}

uint64_t number_at(std::span<const std::byte> from, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(from[at + i])} << (8 * i);
  return value;
}

uint64_t folded(int64_t value) { return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63); }
int64_t unfolded(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

class IndexReader {
 public:
  explicit IndexReader(std::span<const std::byte> body) : body_(body) {}

  size_t left() const { return body_.size() - at_; }
  bool take(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 63 && at_ < body_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(body_[at_++]);
      value |= uint64_t{byte & 127U} << shift;
      if (byte < 128) return true;
    }
    return false;
  }

 private:
  const std::span<const std::byte> body_;
  size_t at_ = 0;
};

bool take_point(IndexReader& reader, int components, uint64_t bits, ScanPoint& point) {
  uint64_t value = 0;
  if (!reader.take(value) || value > bits - point.bit) return false;
  point.bit += value;
  for (int i = 0; i < components; ++i) {
    if (!reader.take(value) || value > 4 * kMostDc) return false;
    const int64_t dc = point.dc[static_cast<size_t>(i)] + unfolded(value);
    if (dc < -kMostDc || dc > kMostDc) return false;
    point.dc[static_cast<size_t>(i)] = static_cast<int32_t>(dc);
  }
  return true;
}

bool take_points(std::span<const std::byte> body, ScanIndex& index) {
  IndexReader reader(body);
  uint64_t interval = 0, rows = 0, points_a_row = 0;
  if (!reader.take(interval) || !reader.take(rows) || !reader.take(points_a_row)) return false;
  if (interval - 1 >= kMostCount || rows - 1 >= kMostCount || points_a_row - 1 >= kMostCount) return false;
  // So that a few bytes can't ask for much memory.
  if (rows * points_a_row > reader.left()) return false;
  index.interval = static_cast<int64_t>(interval);
  index.rows = static_cast<int64_t>(rows);
  index.points_a_row = static_cast<int64_t>(points_a_row);
  index.points.clear();
  index.points.reserve(rows * points_a_row);
  ScanPoint point;
  for (uint64_t i = 0; i < rows * points_a_row; ++i) {
    if (!take_point(reader, index.components, 8 * index.file_bytes, point)) return false;
    index.points.push_back(point);
  }
  return reader.left() == 0;
}

}  // namespace

void mark_file(std::span<const std::byte> file, ScanIndex& index) {
  index.file_bytes = file.size();
  index.file_digest = digest_of(file);
}

bool is_of_file(const ScanIndex& index, std::span<const std::byte> file) {
  return index.file_bytes == file.size() && index.file_digest == digest_of(file);
}

std::vector<std::byte> to_bytes(const ScanIndex& index) {
  std::vector<std::byte> bytes(kMagic.size());
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  put_number(bytes, kVersion, 1);
  put_number(bytes, static_cast<uint64_t>(index.components), 1);
  put_number(bytes, index.file_bytes, 8);
  put_number(bytes, index.file_digest, 8);
  put_varint(bytes, static_cast<uint64_t>(index.interval));
  put_varint(bytes, static_cast<uint64_t>(index.rows));
  put_varint(bytes, static_cast<uint64_t>(index.points_a_row));
  ScanPoint last;
  for (const ScanPoint& point : index.points) {
    put_varint(bytes, point.bit - last.bit);
    for (size_t i = 0; i < static_cast<size_t>(index.components); ++i) {
      put_varint(bytes, folded(int64_t{point.dc[i]} - last.dc[i]));
    }
    last = point;
  }
  put_number(bytes, digest_of(bytes), kChecksum);
  return bytes;
}

Result<void> read_index(std::span<const std::byte> bytes, std::string_view name, ScanIndex& index) {
  const auto damaged = [name](std::string_view what) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: the index of the JPEG file is damaged: {}", name, what));
  };
  if (bytes.size() < kHead + kChecksum) return damaged(fmt::format("it has {} bytes", bytes.size()));
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return damaged("it doesn't begin with HPJI");
  const auto body = bytes.first(bytes.size() - kChecksum);
  if (static_cast<uint32_t>(digest_of(body)) != number_at(bytes, body.size(), kChecksum)) {
    return damaged("its checksum is wrong");
  }
  if (const uint64_t version = number_at(bytes, 4, 1); version != kVersion) {
    return fail(ErrorKind::Unimplemented, fmt::format("{}: version {} of the index of a JPEG file", name, version));
  }
  index.components = static_cast<int>(number_at(bytes, 5, 1));
  index.file_bytes = number_at(bytes, 6, 8);
  index.file_digest = number_at(bytes, 14, 8);
  const bool is_sound = (index.components == 1 || index.components == 3) && index.file_bytes <= uint64_t{1} << 40;
  if (!is_sound || !take_points(body.subspan(kHead), index)) return damaged("its content contradicts itself");
  return {};
}

}  // namespace headpond::jpeg_internal
