// SPDX-License-Identifier: Apache-2.0
// Gzip (RFC 1952) and zlib (RFC 1950), recognised by their first bytes and never by a file's name, inflated while they
// are read, so in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond {

/// True iff `start` begins as a gzip member does.
bool is_gzip(std::span<const std::byte> start);

/// True iff `start` begins as a zlib stream without a dictionary does. That is two bytes that one file in a thousand
/// has by chance: who expects something with a better mark looks for that first.
bool is_zlib(std::span<const std::byte> start);

/// Reads what `compressed` holds: all members in sequence, each checked against its length and CRC-32 when its end is
/// reached. DataLoss, with the offset in the compressed bytes, iff the stream is cut or damaged, or something else
/// follows a member; ResourceExhausted iff more than `limit` bytes come out. What came out before the
/// damage, or up to the limit, is given first. Errors stay.
std::unique_ptr<ByteReader> make_gzip_reader(std::unique_ptr<ByteReader> compressed, uint64_t limit = UINT64_MAX);

/// The same for the one zlib stream, with its Adler-32, that a file can be.
std::unique_ptr<ByteReader> make_zlib_reader(std::unique_ptr<ByteReader> compressed, uint64_t limit = UINT64_MAX);

/// The gzip reader of `reader` iff its first bytes say so, else a reader of the same bytes; `limit` holds for both.
Result<std::unique_ptr<ByteReader>> inflate_if_gzip(std::unique_ptr<ByteReader> reader, uint64_t limit = UINT64_MAX);

/// What all these readers of the process did so far: a file that is read many times must appear once.
struct InflateCounts {
  int64_t streams;    ///< Readers that gave at least one byte, or found the end or an error.
  int64_t bytes_in;   ///< Compressed.
  int64_t bytes_out;  ///< Inflated.
};
InflateCounts inflate_counts();

}  // namespace headpond
