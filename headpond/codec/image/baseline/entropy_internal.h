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
  uint64_t position() const;
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
    *this = filled_slowly(*this);
  }
  // True if a byte of the word is ff.
  static bool has_ones(uint64_t word) {
    const uint64_t zeros = ~word;
    return ((zeros - 0x0101010101010101) & ~zeros & 0x8080808080808080) != 0;
  }
  // Fills a copy: an object whose address is known elsewhere isn't kept in registers.
  static ScanBits filled_slowly(ScanBits bits);
  bool is_before_marker();

  const uint8_t* begin_ = nullptr;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint64_t bits_ = 0;
  int count_ = 0;  // Bits that are ready; the word may hold later bits too.
  int missing_ = 0;
};

/// Reads the coefficients of one block after the other.
class EntropyDecoder {
 public:
  EntropyDecoder() = default;
  EntropyDecoder(const Frame& frame, std::span<const std::byte> data)
      : frame_(&frame), bits_(data), data_bits_(8 * data.size()) {}

  /// The state before begin_mcu().
  ScanPoint point() const { return {bits_.position(), last_dc_}; }
  /// Goes on at `point`, before MCU number `mcu` of the scan. False iff the data are shorter.
  bool go_to(const ScanPoint& point, int64_t mcu);

  /// To be called before each MCU. False iff a restart marker is missing.
  bool begin_mcu();
  /// The next block, of component `which`, dequantized, in the rows' order, into zeros. False if libjpeg would warn
  /// about it or stop; it may also be seen later.
  bool take_block(size_t which, int16_t* to);
  /// Like take_block for a block whose coefficients are not needed; doesn't see values that no image has. REQUIRES:
  /// the component's `ac` has_pass.
  bool pass_block(size_t which);
  /// False iff the data ended too early.
  bool is_whole() const { return !bits_.is_past_end(); }
  /// True iff the image's end follows.
  bool take_end() { return is_whole() && bits_.take_marker(0xd9); }

 private:
  const Frame* frame_ = nullptr;
  ScanBits bits_;
  uint64_t data_bits_ = 0;
  std::array<int32_t, 3> last_dc_ = {};
  int64_t mcus_ = 0;  // MCUs of the interval.
  uint8_t restarts_ = 0;
};

}  // namespace headpond::jpeg_internal
