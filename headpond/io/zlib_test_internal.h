// SPDX-License-Identifier: Apache-2.0
// For tests: the oracle's way to compressed bytes.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <vector>

namespace headpond::test {

using Bytes = std::vector<std::byte>;

inline Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline constexpr int kZlibWindow = 15, kGzipWindow = 15 + 16;
inline Bytes deflated(const Bytes& plain, int level, int window) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, plain.size()) + 64);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
inline Bytes gzip(const Bytes& plain, int level = 6) { return deflated(plain, level, kGzipWindow); }
inline Bytes zlib(const Bytes& plain, int level = 6, int window = kZlibWindow) {
  return deflated(plain, level, window);
}

}  // namespace headpond::test
