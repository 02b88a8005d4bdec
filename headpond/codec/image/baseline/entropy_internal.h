// SPDX-License-Identifier: Apache-2.0
// The coefficients of a baseline scan. Source: ITU-T T.81, annex F.2.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "headpond/codec/image/baseline/frame_internal.h"
#include "headpond/codec/image/baseline/scan_index_internal.h"

namespace headpond::jpeg_internal {

/// A scan's data, bit by bit from the left; after it, or a marker in it, come zeros, which count as missing.
class ScanBits {
 public:
  ScanBits() = default;
  explicit ScanBits(std::span<const std::byte> data)
      : begin_(reinterpret_cast<const uint8_t*>(data.data())), at_(begin_), end_(begin_ + data.size()) {}

  /// Makes at least 32 bits ready.
  void fill() {
    if (count_ < 32) fill_now();
  }
  /// Makes 56 to 63 bits ready.
  void fill_all() { fill_now(); }
  /// The next `count` of the ready bits, 1 to 32.
  uint32_t peek(int count) const { return static_cast<uint32_t>(bits_ >> (64 - count)); }
  void skip(int count) {
    bits_ <<= count;
    count_ -= count;
  }
  /// The bits of the data, as the file has them, before the next one; in front of a marker they end before the
  /// padding bits.
  uint64_t position() const { return position_of(begin_, at_, count_ - missing_); }
  /// Goes on at a bit of the data, which has at least so many.
  void go_to(uint64_t bit);
  /// True iff zeros were taken that are not in the file.
  bool is_past_end() const { return missing_ > count_; }
  /// Passes the marker ff `code`. False iff it isn't what follows the bits that were taken and those up to a full byte.
  bool take_marker(uint8_t code) {
    if (!is_before_marker() || at_[1] != code) return false;
    at_ += 2;
    bits_ = 0;
    count_ = missing_ = 0;
    return true;
  }

 private:
  void fill_now() {
    uint64_t word = 0;
    if (end_ - at_ >= 8) {
      std::memcpy(&word, at_, 8);
      if (!has_ones(word)) {
        if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
        bits_ |= word >> count_;
        at_ += (63 - count_) >> 3;
        count_ |= 56;
        return;
      }
    }
    const Filled filled = filled_slowly(at_, end_, bits_, count_);
    bits_ = filled.bits;
    at_ += filled.taken;
    missing_ += filled.missing;
    count_ = filled.count;
  }
  // True if a byte of the word is ff.
  static bool has_ones(uint64_t word) {
    const uint64_t zeros = ~word;
    return ((zeros - 0x0101010101010101) & ~zeros & 0x8080808080808080) != 0;
  }
  // In two registers: an object whose address is known elsewhere isn't kept in registers.
  struct Filled {
    uint64_t bits;
    uint16_t taken;  // Bytes.
    uint16_t count;
    int32_t missing;
  };
  static Filled filled_slowly(const uint8_t* at, const uint8_t* end, uint64_t bits, int count);
  // `ahead`: bits that were read, and are not taken.
  static uint64_t position_of(const uint8_t* begin, const uint8_t* at, int ahead);
  bool is_before_marker() const { return count_ - missing_ < 8 && !is_past_end() && end_ - at_ >= 2 && *at_ == 0xff; }

  const uint8_t* begin_ = nullptr;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint64_t bits_ = 0;
  int count_ = 0;  // Bits that are ready; the word may hold later bits too.
  int missing_ = 0;
};

/// A block of a row of MCUs, in the order of the scan.
struct RowBlock {
  uint32_t to = 0;  ///< Where its coefficients go, counted from the row's memory on.
  uint16_t component = 0;
  bool begins_mcu = false;
  bool meets_point = false;  ///< It begins an MCU at which the index has a point.
};

/// How far reading a row went.
enum class RowState : uint8_t { open, whole, wrong };

/// Reads the blocks of a scan, one row of MCUs after the other, or from a point of an index on. A plain state:
/// read_row() moves one on, read_two() two of them in turn, and what one reads doesn't depend on the other.
struct EntropyReader {
  EntropyReader() = default;
  EntropyReader(const Frame& of, std::span<const std::byte> data)
      : frame(&of), bits(data), data_bits(8 * data.size()) {}

  /// The state between two rows.
  ScanPoint point() const { return {bits.position(), dc}; }
  /// Goes on at `point`, before MCU number `mcu` of the scan. False iff the data are shorter.
  bool go_to(const ScanPoint& point, int64_t mcu);
  /// Begins a row, or a part of one. `row` has its blocks, at least one; their quantized values, in the order of rows,
  /// go into `memory`, which has zeros; null: nowhere. `points`: the first of the index that a block of the row meets.
  /// All outlive its reading.
  void begin_row(std::span<const RowBlock> row, int16_t* memory, const ScanPoint* points);
  /// True iff the image's end follows.
  bool take_end() { return !bits.is_past_end() && bits.take_marker(0xd9); }

  const Frame* frame = nullptr;
  ScanBits bits;
  uint64_t data_bits = 0;
  // Of each component, near to the rest of what each block needs.
  struct Tables {
    const HuffmanTable* dc = nullptr;
    const HuffmanTable* ac = nullptr;
    const HuffmanTable::Pairs* pairs = nullptr;
  };
  std::array<Tables, 3> tables = {};
  std::array<int32_t, 3> dc = {};  // The last value of each component.
  int64_t mcus = 0;                // MCUs of the interval.
  uint8_t restarts = 0;
  RowState state = RowState::whole;

  // The row, and the next symbol's block.
  const RowBlock* block = nullptr;
  const RowBlock* end = nullptr;
  int16_t* memory = nullptr;
  const ScanPoint* next_point = nullptr;
  const HuffmanTable* table = nullptr;
  const HuffmanTable::Pairs* pairs = nullptr;
  int16_t* to = nullptr;
  uint32_t k = 1;  // Its index in the zigzag order.
};

/// Reads until the row is whole or wrong. Wrong: libjpeg would warn about the data or stop, or a point of the index
/// isn't the state that the block before it leaves. REQUIRES: begin_row().
void read_row(EntropyReader& reader);
/// Reads both until a row is whole or wrong: while one waits for its table, the other goes on. REQUIRES: two readers
/// whose rows are open.
void read_two(EntropyReader& first, EntropyReader& second);

}  // namespace headpond::jpeg_internal
