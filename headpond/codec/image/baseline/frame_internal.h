// SPDX-License-Identifier: Apache-2.0
// What the decoder of baseline JPEG needs of a file's markers. Source: ITU-T T.81, annexes B and C.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond::jpeg_internal {

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

  /// For a table of coefficients, to pass over as many at once as the next kPassBits bits hold whole. An entry has in
  /// its lowest four bits the number of bits to take, 0 iff not one is whole; then one bit that says that the block's
  /// end is the last of them; above it how many places of the zigzag order the others fill.
  static constexpr int kPassBits = 11;
  std::array<uint16_t, size_t{1} << kPassBits> pass;
  bool has_pass = false;
  /// Makes `pass`, if it isn't there.
  void make_pass();

  /// From the body of a marker: 16 counts, then `symbols`. False iff libjpeg would refuse it. Quick where they are
  /// those of the file before.
  bool make(std::span<const std::byte> counts, std::span<const std::byte> values, bool is_dc);
};

struct FrameComponent {
  int across = 1, down = 1;           ///< Sampling factors, which are also the blocks in an MCU.
  std::array<int16_t, 64> quantizer;  ///< In zigzag order.
  int32_t most_dc = 0;                ///< Largest quantized value: libjpeg's code for each processor agrees up to here.
  const HuffmanTable* dc = nullptr;
  const HuffmanTable* ac = nullptr;
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

  int64_t mcu_width() const { return int64_t{8} * components[0].across; }
  int64_t mcu_height() const { return int64_t{8} * components[0].down; }
  int64_t mcus_across() const { return (width - 1) / mcu_width() + 1; }
  int64_t mcu_rows() const { return (height - 1) / mcu_height() + 1; }
};

/// Makes `frame` anew. False iff anything before the scan's data is not as in plain baseline files, which says nothing
/// about whether libjpeg can decode the file.
bool read_frame(std::span<const std::byte> file, Frame& frame);

}  // namespace headpond::jpeg_internal
