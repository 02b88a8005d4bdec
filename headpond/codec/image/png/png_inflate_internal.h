// SPDX-License-Identifier: Apache-2.0
// The zlib stream (RFC 1950, RFC 1951) of an image, inflated while its rows are taken. What zlib refuses is refused: a
// stream that is whole here is whole there, with the same bytes. Why a stream is refused zlib must say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "headpond/codec/image/png/png_codes_internal.h"

namespace headpond::png_internal {

class Inflater {
 public:
  /// The part of the stream that follows the one before; empty iff none does.
  using NextPart = std::function<std::span<const std::byte>()>;

  /// `stream`, and what `next` gives, must outlive it. The stream is to have `total` bytes, which are taken in pieces
  /// of at most `most`. Without `next`, `stream` is the whole one; parts are joined piece by piece.
  Inflater(std::span<const std::byte> stream, uint64_t total, size_t most, NextPart next = nullptr);

  /// The next `size` bytes, which live until the next call. Null iff the stream is refused, or has too few or more than
  /// `total`. REQUIRES: size is 1 to `most`.
  const uint8_t* take(size_t size);

  /// True iff all bytes were taken, their Adler-32 is right and nothing follows it. REQUIRES: take() gave no null.
  bool is_whole();

 private:
  enum class Step : uint8_t { stream_head, block_head, stored, codes, end };

  bool fill();
  void make_room();
  bool step();
  bool read_stream_head();
  bool read_block_head();
  bool read_lengths();
  bool read_codes();
  bool take_symbols();
  bool take_stored();
  bool finish();
  void join_parts();
  // True iff the next step could need more bytes than are in `in_`.
  bool is_low() const { return has_more_ && in_.end - in_.at < kLow; }
  uint8_t* limit() const { return memory_.get() + capacity_ - kSlack; }

  // A step ends at most this far after the limit: three pairs of literals, a match, and what copying writes too much.
  static constexpr size_t kSlack = 3 * 2 + 258 + 16;
  // More bytes of the stream than the head of a block has; than a turn of take_symbols() reads.
  static constexpr ptrdiff_t kLow = 1024, kTurn = 64;

  const uint64_t total_;
  const size_t capacity_;
  const std::unique_ptr<uint8_t[]> memory_;  // What a match may reach, and what is not taken yet.
  size_t at_ = 0, end_ = 0;                  // The part of it that is not taken.
  uint64_t produced_ = 0;
  uint32_t adler_ = 1;
  CodeBits in_;
  const NextPart next_;
  bool has_more_;                      // Something of the stream may follow `in_`.
  std::span<const std::byte> part_;    // What was not joined yet of the last part.
  std::unique_ptr<uint8_t[]> joined_;  // Where `in_` is, from the second part on.
  Step step_ = Step::stream_head;
  bool is_last_ = false;   // The current block.
  bool is_fixed_ = false;  // The tables are those of fixed codes.
  bool is_refused_ = false;
  size_t stored_ = 0;  // Bytes left in a stored block.
  CodeTable<11, 16 * 143> symbols_;
  CodeTable<8, 128 * 15> distances_;
};

}  // namespace headpond::png_internal
