// SPDX-License-Identifier: Apache-2.0
// What the decoder of baseline JPEG needs of a file's markers. Source: ITU-T T.81, annexes B and C.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond::jpeg_internal {

/// Where the values of the zigzag order stand in a block whose rows follow one another.
inline constexpr std::array<uint8_t, 64> kPlaces = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// The one or two values that some bits of a block begin with. Places count from the next one of the zigzag order on.
/// Its members are bytes, each loaded by itself, as to take them from a word would cost an instruction more for each.
struct ValuePair {
  /// Part of `advance` if the block's end follows the values.
  static constexpr uint8_t kEnd = 64;
  /// `advance` if there is no value whole.
  static constexpr uint8_t kNone = 127;
  /// Values of more bits are not in a pair.
  static constexpr uint32_t kMostSize = 7;

  /// How many places the values fill; the last one is the second value's, and also the first one's if that is the only
  /// one. Without any value there is one place, of a 0.
  uint8_t advance = 0;
  uint8_t first = 0;  ///< The first value's place.
  int8_t first_value = 0;
  int8_t second_value = 0;

  friend bool operator==(const ValuePair&, const ValuePair&) = default;
};

/// The whole symbols at the start of some bits of a block, without their values.
struct SkippedSymbols {
  /// Part of `advance` if the block's end is the last symbol.
  static constexpr uint8_t kEnd = 64;
  /// `advance` if there is no symbol whole.
  static constexpr uint8_t kNone = 128;
  /// As a block has but 63 places for them.
  static constexpr uint32_t kMostPlaces = 63;

  uint8_t bits = 0;         ///< To be taken.
  uint8_t advance = kNone;  ///< How many places of the zigzag order they fill.

  friend bool operator==(const SkippedSymbols&, const SkippedSymbols&) = default;
};

/// A Huffman table, looked up by the next kLookBits bits. An entry of `look` has in its lowest byte the number of bits
/// to take, 0 iff the code is longer. If they hold a coefficient too, its value is in the upper half, and in the
/// second byte the zeros before it; else the upper half is 0 and the second byte is the symbol.
struct HuffmanTable {
  static constexpr int kLookBits = 13;
  std::array<uint32_t, size_t{1} << kLookBits> look;
  std::array<int32_t, 17> end;     ///< By length: 1 more than the largest code, 0 if none has that length.
  std::array<int32_t, 17> offset;  ///< A code plus this is the index of its symbol.
  std::array<uint8_t, 256> symbols;
  bool is_set = false;
  std::array<std::byte, 16> counts;  ///< Numbers of codes, by length less 1.
  bool is_dc = false;
  bool is_made = false;  ///< Made from `counts` and `symbols`, maybe for the file before.

  /// For a table of differences, by the next kDifferenceBits bits: how many of them to take, and 16 times the
  /// difference; 0 if it isn't whole in them. Small, to stay in the processor's cache.
  static constexpr int kDifferenceBits = 12;
  std::array<int16_t, size_t{1} << kDifferenceBits> differences;

  /// The bits by which symbols are passed over, and the most bits of them with their values.
  static constexpr int kSkipBits = 11, kMostSkipped = 14;
  /// For a table of coefficients, by the bits of `look`.
  struct Pairs {
    std::array<ValuePair, size_t{1} << kLookBits> values;
    /// How many of the bits the values take: the next look waits for these only. They take 8 KiB, so they stay near the
    /// processor; the values take 32.
    std::array<uint8_t, size_t{1} << kLookBits> bits;
    /// By the next kSkipBits bits: symbols whose codes are whole in them, and which take at most kMostSkipped with
    /// their values. After need_skips().
    std::array<SkippedSymbols, size_t{1} << kSkipBits> skips;
  };
  Pairs pairs;
  bool has_pairs = false, has_skips = false;
  size_t used_bytes = 0;  ///< Bytes of the scans for which pairs were asked.
  /// `pairs`, or for a few bytes of a scan some without any: to make them would take longer than they save.
  const Pairs* pairs_for(size_t bytes);
  void make_pairs();  ///< Without `skips`.
  /// Before blocks are passed over: of `pairs`, if there are any, `skips` are made. Made only then, as
  /// it takes time of each file that has Huffman tables of its own.
  void need_skips() {
    if (has_pairs && !has_skips) make_skips();
  }
  void make_skips();

  /// From the body of a marker: 16 counts, then `symbols`. False iff libjpeg would refuse it. Quick where they are
  /// those of the file before.
  bool make(std::span<const std::byte> counts, std::span<const std::byte> values, bool is_dc);
  /// True iff both are made, from the same.
  bool is_same(const HuffmanTable& other) const;

 private:
  void make_differences();
};

/// Factors of the values of a block, row by row.
struct Quantizer {
  std::array<int16_t, 64> factors;
  std::array<int16_t, 64> most;  ///< Largest values: up to here libjpeg's code for each processor agrees.
};

struct FrameComponent {
  int across = 1, down = 1;  ///< Sampling factors, which are also the blocks in an MCU.
  Quantizer quantizer;
  const HuffmanTable* dc = nullptr;
  HuffmanTable* ac = nullptr;
  const HuffmanTable::Pairs* pairs = nullptr;  ///< Those of `ac`.
};

/// A file of one scan: grey, or YCbCr with the luma's sampling 1x1, 2x1, 1x2 or 2x2 and chroma's 1x1.
struct Frame {
  int64_t width = 0, height = 0;
  int count = 0;  ///< Number of components: 1 or 3.
  std::array<FrameComponent, 3> components;
  int64_t rows_together = 1;     ///< Rows of MCUs that libjpeg decodes at once: of a grey file its sampling factor.
  int64_t restart_interval = 0;  ///< In MCUs; 0: none.
  size_t data = 0;               ///< Where the scan's data begins.
  std::array<HuffmanTable, 4> dc_tables, ac_tables;

  /// Uses tables of `other` where they are the same. REQUIRES: both frames are of files that were read; `other` is not
  /// read anew while this one is in use. A table that one of them extends to two values a look serves the other as it
  /// is.
  void share_tables(const Frame& other);
  int64_t mcu_width() const { return int64_t{8} * components[0].across; }
  int64_t mcu_height() const { return int64_t{8} * components[0].down; }
  int64_t mcus_across() const { return (width - 1) / mcu_width() + 1; }
  int64_t mcu_rows() const { return (height - 1) / mcu_height() + 1; }
};

/// Makes `frame` anew. False iff anything before the scan's data is not as in plain baseline files, which says nothing
/// about whether libjpeg can decode the file.
bool read_frame(std::span<const std::byte> file, Frame& frame);

}  // namespace headpond::jpeg_internal
