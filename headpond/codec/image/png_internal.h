// SPDX-License-Identifier: Apache-2.0
// The layout of a PNG file, found from the headers of its chunks before libpng reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/codec/image/image_window.h"
#include "headpond/codec/image/png.h"

namespace headpond::png_internal {

struct Layout {
  uint32_t width = 0, height = 0;
  uint8_t bit_depth = 0, color_type = 0;
  bool is_interlaced = false;
  bool is_animated = false;
  int palette_entries = 0;
  uint64_t palette_begin = 0;
  int palette_alphas = 0;   // Entries of a tRNS chunk that matches the palette.
  uint64_t data_bytes = 0;  // Bytes of all IDAT chunks.
  uint64_t data_end = 0;    // The end of the last non-empty IDAT chunk.
  // The consecutive IDAT chunks from the first one on, as far as a single chunk could contain their bytes.
  uint64_t run_begin = 0, run_end = 0;
  uint32_t run_bytes = 0;
  /// What decode_plain() takes: 8 or 16 bits, not interlaced nor animated, no tRNS, all chunks right and in their
  /// places.
  bool is_plain = false;

  bool has_palette() const { return color_type == 3; }
  bool has_color() const { return (color_type & 2) != 0; }
  bool has_alpha() const { return (color_type & 4) != 0; }
  /// Values per pixel in the file.
  int stored_channels() const { return has_palette() ? 1 : (has_color() ? 3 : 1) + (has_alpha() ? 1 : 0); }
  int channels() const { return has_palette() ? (palette_alphas > 0 ? 4 : 3) : stored_channels(); }
};

/// The output: consecutive rows of `row_bytes`, those of `window`.
struct Target {
  int channels;
  bool is_wide;  // u16
  ImageWindow window;
  size_t row_bytes;
  size_t total_bytes;

  bool wants_alpha() const { return channels % 2 == 0; }
  bool wants_color() const { return channels >= 3; }
  size_t value_bytes() const { return is_wide ? 2 : 1; }
  size_t pixel_bytes() const { return static_cast<size_t>(channels) * value_bytes(); }
};

/// The layout as far as png_info needs it, without data_bytes.
Result<Layout> read_head(std::span<const std::byte> head, uint64_t file_bytes, const PngOptions& options,
                         std::string_view name);

/// The layout of a whole file, checked: all chunks in bounds and within the limits, the critical ones in order, once
/// and with right checksums, and enough data for the image.
Result<Layout> read_layout(std::span<const std::byte> file, const PngOptions& options, std::string_view name);

/// Decodes without libpng, which would give the same pixels and no warning. False, with any pixels, iff the compressed
/// data or the filters have a defect down to the target's end: what it is, libpng says. REQUIRES: `layout` is that of
/// `file` and plain.
bool decode_plain(std::span<const std::byte> file, const Layout& layout, const Target& target, std::byte* to);

/// The pixels of decode_png() inside `window` into `to`. Rows below it are decoded only if the image is interlaced, so
/// damage of their compressed data is not found. REQUIRES: `layout` is that of `file`, read with these options;
/// `window` has pixels and lies inside the image.
Result<PngWarnings> decode_window(std::span<const std::byte> file, const Layout& layout, const ImageWindow& window,
                                  const PngOptions& options, std::byte* to, std::string_view name);

}  // namespace headpond::png_internal
