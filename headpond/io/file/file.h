// SPDX-License-Identifier: Apache-2.0
// Files: read in order, written whole or not at all, cached in one folder of the user's. Errors name the path and what
// the system said. Kinds: NotFound; FailedPrecondition for a folder, a device or a missing permission; DataLoss for a
// file that shrinks and for I/O errors; ResourceExhausted for a full disk and for limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"

namespace headpond {

/// Gives bytes in order. One thread at a time.
class ByteReader {
 public:
  virtual ~ByteReader() = default;
  /// Fills the front of `to` and returns how many bytes: at least one, unless at the end or `to` is empty.
  virtual Result<size_t> read(std::span<std::byte> to) = 0;
  /// A bound of what is still to come, known before reading: nobody needs to make room for more.
  virtual uint64_t left_at_most() const = 0;
  /// For error texts: the file's path.
  virtual const std::string& name() const = 0;
};

/// Reads until `to` is full or the end is reached, and returns how many bytes.
Result<size_t> read_fully(ByteReader& reader, std::span<std::byte> to);

/// Reads a regular file as it was long when opened: what is appended later is not seen, a file that shrinks is
/// DataLoss.
Result<std::unique_ptr<ByteReader>> open_file_reader(const std::string& path);

/// Reads a pipe, a device or a file to its end, whatever its length; "-" is the standard input. left_at_most() is
/// UINT64_MAX: nobody knows. A read waits until bytes are there.
Result<std::unique_ptr<ByteReader>> open_stream_reader(const std::string& path);

/// Gives `start`, of which it keeps a copy, then what `rest` gives: for who had to look at the first bytes.
std::unique_ptr<ByteReader> make_joined_reader(std::span<const std::byte> start, std::unique_ptr<ByteReader> rest);

/// Reads `bytes`, which must outlive the reader.
std::unique_ptr<ByteReader> make_memory_reader(std::string name, std::span<const std::byte> bytes);

/// The whole file. ResourceExhausted iff it is longer than `limit`.
Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t limit = UINT64_MAX);

/// Reads a regular file from byte `offset` on. DataLoss iff that is behind its end.
Result<std::unique_ptr<ByteReader>> open_file_reader(const std::string& path, uint64_t offset);

/// Replaces or makes the file: a reader sees all of the old one or all pieces in sequence, also after a power cut. On
/// failure the old file is as it was and no other is left in the folder. Thread-safe; the last of several wins.
Result<void> write_file_atomically(const std::string& path, std::initializer_list<std::span<const std::byte>> pieces);

/// Where everything is written that can be made again: $XDG_CACHE_HOME/headpond, else $HOME/.cache/headpond. Not made
/// here. FailedPrecondition iff neither variable holds an absolute path.
Result<std::string> cache_folder();

}  // namespace headpond
