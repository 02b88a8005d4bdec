// SPDX-License-Identifier: Apache-2.0
// The prefix codes of deflate (RFC 1951, section 3.2.2), by tables. Their shape is that of libdeflate's: an entry has
// all that is needed of a symbol, so that a symbol costs one look-up.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace headpond::png_internal {

/// The bits of a stream, the lowest of a byte first. After its end come zeros.
struct CodeBits {
  const uint8_t* at = nullptr;
  const uint8_t* end = nullptr;
  uint64_t bits = 0;
  uint32_t count = 0;    ///< Of `bits` that are valid: higher ones may be anything that a refill would write there.
  uint64_t missing = 0;  ///< Zero bytes that were added after the end.

  /// At least 56 bits.
  void refill() {
    if (end - at >= 8) {
      uint64_t word = 0;
      std::memcpy(&word, at, sizeof word);
      if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
      bits |= word << count;
      at += (63 - count) >> 3;
      count |= 56;
      return;
    }
    for (; count < 56; count += 8) {
      if (at == end) {
        ++missing;
      } else {
        bits |= uint64_t{*at++} << count;
      }
    }
  }
  uint32_t peek(uint32_t size) const { return static_cast<uint32_t>(bits & ((uint64_t{1} << size) - 1)); }
  void drop(uint32_t size) {
    bits >>= size;
    count -= size;
  }
  uint32_t take(uint32_t size) {
    const uint32_t value = peek(size);
    drop(size);
    return value;
  }
  /// Whether bits after the end were used.
  bool is_beyond() const { return 8 * missing > count; }
  /// Goes on at the next whole byte, which `at` is then. False iff that is after the end.
  bool align() {
    if (is_beyond()) return false;
    at -= count / 8 - missing;
    bits = count = missing = 0;
    return true;
  }
};

/// An entry: what the symbol means in the upper half; flags; the bits of its code; those and its extra bits. Of
/// literals the upper half has one or two, the second in the upper byte, and their number takes the place of the bits
/// of the code.
struct CodeEntry {
  static constexpr uint32_t kOther = 1U << 15, kSubtable = 1U << 14, kInvalid = 1U << 13, kLiteral = 1U << 12;

  static constexpr uint32_t all_bits(uint32_t entry) { return entry & 0xff; }
  static constexpr uint32_t code_bits(uint32_t entry) { return entry >> 8 & 15; }
  static constexpr uint32_t literals(uint32_t entry) { return entry >> 8 & 15; }
  static constexpr bool is_literal(uint32_t entry) { return (entry & kLiteral) != 0; }
  static constexpr uint32_t with_bits(uint32_t meaning, uint32_t bits) {
    return meaning + ((is_literal(meaning) ? 1 : bits) << 8) + bits;
  }
  /// Base and extra bits of a length or a distance. REQUIRES: `bits` begin with the code.
  static uint32_t value(uint32_t entry, uint64_t bits) {
    const uint64_t extra = (bits & ((uint64_t{1} << all_bits(entry)) - 1)) >> code_bits(entry);
    return (entry >> 16) + static_cast<uint32_t>(extra);
  }
};

/// Codes of up to kBits bits are looked up at once, longer ones in a table after them, of which kRest entries suffice.
template <uint32_t kBits, size_t kRest>
class CodeTable {
 public:
  /// From the length of each symbol's code. False iff they are no complete code: but with `may_be_small`, none or one
  /// of a single bit is. `meanings` has one for each symbol.
  bool build(std::span<const uint8_t> lengths, std::span<const uint32_t> meanings, bool may_be_small);

  uint32_t first(const CodeBits& in) const { return entries_[in.peek(kBits)]; }
  /// After first(in) gave `entry`, with the flag of a further table.
  uint32_t second(CodeBits& in, uint32_t entry) const {
    in.drop(kBits);
    return entries_[(entry >> 16) + in.peek(CodeEntry::code_bits(entry))];
  }

 private:
  void set_short(uint32_t code, uint32_t length, uint32_t meaning);
  bool set_long(uint32_t code, uint32_t length, uint32_t meaning);
  void join_literals();

  std::array<uint32_t, (size_t{1} << kBits) + kRest> entries_;
  uint32_t rest_bits_ = 0;
  size_t end_ = 0;
};

/// Those of the code lengths, of literals and lengths, of distances.
extern template class CodeTable<7, 0>;
extern template class CodeTable<11, 16 * 143>;
extern template class CodeTable<8, 128 * 15>;

}  // namespace headpond::png_internal
