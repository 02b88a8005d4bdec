// SPDX-License-Identifier: Apache-2.0
// The bytes that a reader gave and that nobody used up yet, in one piece: what parsers of streams look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond::internal {

/// Room follows the bytes that are there, at most twice as many and 64 KiB, while it grows three times as many, never a
/// number that stands in them. One thread at a time.
class ByteWindow {
 public:
  /// `offset`: where in the file the reader's next byte stands.
  explicit ByteWindow(std::unique_ptr<ByteReader> reader, uint64_t offset = 0)
      : reader_(std::move(reader)), offset_(offset) {}

  /// Until the next call of a function that is not const.
  std::span<const std::byte> bytes() const { return {room_.data() + begin_, end_ - begin_}; }
  /// Of the first of bytes().
  uint64_t offset() const { return offset_; }
  const std::string& name() const { return reader_->name(); }

  /// Puts at least one byte more behind bytes(); false at the end. After an error all is as it was;
  /// ResourceExhausted iff there is no memory.
  Result<bool> more();
  /// Puts more behind bytes() until there are `count`; false iff the end comes first.
  Result<bool> until(uint64_t count);
  /// REQUIRES: count <= bytes().size().
  void drop(size_t count) {
    begin_ += count;
    offset_ += count;
  }
  /// Passes over `count` bytes, fewer at the end, without keeping them. Returns how many; after an error, offset()
  /// has moved by as many as were passed.
  Result<uint64_t> skip(uint64_t count);

 private:
  void make_room();

  std::unique_ptr<ByteReader> reader_;
  uint64_t offset_;
  std::vector<std::byte> room_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace headpond::internal
