// SPDX-License-Identifier: Apache-2.0
// What the tests of record files share: frames by the format's own words, compressed by zlib, and reading to the end.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/zlib_test_internal.h"

namespace headpond::test {

inline void add_number(Bytes& to, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i & 0xff));
}

/// A header that declares `length`, with a fitting checksum.
inline Bytes header_of(uint64_t length) {
  Bytes bytes;
  add_number(bytes, length, 8);
  add_number(bytes, masked_crc32c(std::span<const std::byte>(bytes)), 4);
  return bytes;
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes frame_of(std::string_view payload) {
  Bytes crc;
  add_number(crc, masked_crc32c(payload), 4);
  return joined({header_of(payload.size()), bytes_of(payload), crc});
}

inline Bytes frames_of(const std::vector<std::string>& payloads) {
  std::vector<Bytes> frames;
  for (const std::string& payload : payloads) frames.push_back(frame_of(payload));
  return joined(frames);
}

inline std::string text_of(std::span<const std::byte> payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

struct Scan {
  std::vector<std::string> records;
  Error end;  ///< None after a clean end.
};

/// All that the reader gives until the end or the first error.
inline Scan scan(RecordReader& reader) {
  Scan scan;
  while (true) {
    const auto payload = reader.next();
    if (!payload) scan.end = payload.error();
    if (!payload || !*payload) return scan;
    scan.records.push_back(text_of(**payload));
  }
}

inline Scan scan(const Result<std::unique_ptr<RecordReader>>& reader) {
  return reader ? scan(**reader) : Scan{{}, reader.error()};
}

inline Scan scan(const Bytes& bytes, const RecordReaderOptions& options = {}) {
  return scan(RecordReader::over("/data/x", bytes, options));
}

/// The records of a file that has nothing else.
inline std::vector<std::string> read(const std::string& path) {
  const Scan all = scan(RecordReader::open(path));
  EXPECT_FALSE(all.end) << all.end;
  return all.records;
}

inline Bytes prefix(const Bytes& bytes, size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)};
}

inline Bytes with_flipped_bit(Bytes bytes, size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  return bytes;
}

}  // namespace headpond::test
