// SPDX-License-Identifier: Apache-2.0
// A sliding window over a reader's bytes: those read but not consumed yet, contiguous, for parsers of streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"
#include "headpond/io/growing_array.h"

namespace headpond::internal {

/// Memory that is touched is at most the bytes in the window and as many that were dropped, plus 1 MiB or, if that is
/// more, a sixteenth; it never follows a number in the data. One thread at a time.
class ByteWindow {
 public:
  /// `offset`: the position in the file of the reader's next byte.
  explicit ByteWindow(std::unique_ptr<ByteReader> reader, uint64_t offset = 0)
      : reader_(std::move(reader)), offset_(offset) {}

  /// Valid until the next call of a non-const function.
  std::span<const std::byte> bytes() const { return {room_.data() + begin_, end_ - begin_}; }
  /// The offset in the file of the first of bytes().
  uint64_t offset() const { return offset_; }
  const std::string& name() const { return reader_->name(); }

  /// Appends at least one byte to bytes(); false at the end. An error changes nothing; ResourceExhausted iff there is
  /// no memory.
  Result<bool> more();
  /// Appends to bytes() until there are `count`; false iff the end comes first.
  Result<bool> until(uint64_t count);
  /// REQUIRES: count <= bytes().size().
  void drop(size_t count) {
    begin_ += count;
    offset_ += count;
  }
  /// Skips `count` bytes, fewer at the end, without storing them. Returns how many; after an error, offset() has
  /// advanced by the number of bytes skipped.
  Result<uint64_t> skip(uint64_t count);

 private:
  void make_room();

  std::unique_ptr<ByteReader> reader_;
  uint64_t offset_;
  GrowingArray<std::byte> room_;  // Grows in place, so that pages without bytes are no memory.
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace headpond::internal
