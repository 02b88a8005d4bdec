// SPDX-License-Identifier: Apache-2.0
// Gzip (RFC 1952) and zlib (RFC 1950), recognised by the first bytes and never by a file's name, and inflated while
// they are read, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond {

/// True iff `start` begins like a gzip member.
bool is_gzip(std::span<const std::byte> start);

/// True iff `start` begins like a zlib stream without a dictionary. Its two bytes begin one file in a thousand by
/// chance: test for formats with a longer magic first.
bool is_zlib(std::span<const std::byte> start);

/// The name of the compression that `start` begins with if it is one that nothing here reads: "bzip2", "xz" or "zstd";
/// else empty. Looks at ten bytes.
std::string_view unsupported_compression(std::span<const std::byte> start);

/// Inflates `compressed`: all gzip members in sequence, each verified against its length and CRC-32 at its end.
/// DataLoss, with the offset in the compressed bytes, iff the stream is truncated or damaged, or something other than a
/// member follows; ResourceExhausted iff more than `limit` bytes are inflated. Bytes before the damage, or up to the
/// limit, are returned first. Errors are sticky.
std::unique_ptr<ByteReader> make_gzip_reader(std::unique_ptr<ByteReader> compressed, uint64_t limit = UINT64_MAX);

/// The same for a file that is one zlib stream, verified against its Adler-32.
std::unique_ptr<ByteReader> make_zlib_reader(std::unique_ptr<ByteReader> compressed, uint64_t limit = UINT64_MAX);

/// The gzip reader of `reader` iff the first bytes are gzip's, else a reader of the same bytes; `limit` applies to
/// both. Unimplemented iff unsupported_compression() has a name for them.
Result<std::unique_ptr<ByteReader>> inflate_if_gzip(std::unique_ptr<ByteReader> reader, uint64_t limit = UINT64_MAX);

/// Totals of all these readers in this process: a file that is inflated more than once shows here.
struct InflateCounts {
  int64_t streams;    ///< Readers that returned at least one byte, the end or an error.
  int64_t bytes_in;   ///< Compressed bytes.
  int64_t bytes_out;  ///< Inflated bytes.
};
InflateCounts inflate_counts();

}  // namespace headpond
