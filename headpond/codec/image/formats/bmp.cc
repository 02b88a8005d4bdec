// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {
namespace {

constexpr uint64_t kFileHeader = 14;
constexpr uint32_t kCoreHeader = 12;  // OS/2's: sides of 16 bits, palette entries of 3 bytes.
constexpr uint32_t kInfoHeader = 40;
constexpr uint32_t kOs2Header = 64;  // Its compressions 3 and 4 mean something else.
constexpr uint32_t kMostHeader = 4096;

enum Compression : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kJpeg = 4, kPng = 5, kAlphaFields = 6 };

// Where a channel lies in a pixel of 16 or 32 bits.
struct Field {
  uint32_t mask = 0;

  // To the full range, rounded down. A field without bits is 0.
  uint8_t value(uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const uint64_t most = mask >> shift;
    return static_cast<uint8_t>(uint64_t{(pixel & mask) >> shift} * 255 / most);
  }
  bool is_run() const { return mask == 0 || std::has_single_bit((uint64_t{mask} >> std::countr_zero(mask)) + 1); }
};

struct Layout {
  uint32_t header = 0;  // Its bytes after the file header.
  int64_t width = 0, height = 0;
  bool is_top_down = false;
  uint32_t bits = 0, compression = kPlain;
  std::array<Field, 4> fields;  // Red, green, blue, alpha; of 16 and 32 bits.
  uint64_t palette = 0;         // Its offset.
  uint64_t entries = 0, entry_bytes = 4;
  uint64_t pixels = 0;  // Their offset.

  bool has_palette() const { return bits <= 8; }
  bool has_alpha() const { return fields[3].mask != 0; }
  uint64_t row_bytes() const { return (static_cast<uint64_t>(width) * bits + 31) / 32 * 4; }
};

Result<void> read_sizes(const Source& source, Layout& layout) {
  layout.header = source.word(kFileHeader);
  const bool is_core = layout.header == kCoreHeader;
  if (!is_core && (layout.header < kInfoHeader || layout.header > kMostHeader)) {
    return source.invalid(fmt::format("a bitmap header of {} bytes at offset 14", layout.header));
  }
  HEADPOND_TRY(source.need(kFileHeader + layout.header));
  const uint32_t planes = source.half(is_core ? 22 : 26);
  layout.width = is_core ? int64_t{source.half(18)} : static_cast<int32_t>(source.word(18));
  layout.height = is_core ? int64_t{source.half(20)} : static_cast<int32_t>(source.word(22));
  layout.bits = source.half(is_core ? 24 : 28);
  layout.compression = is_core ? kPlain : source.word(30);
  layout.is_top_down = layout.height < 0;
  layout.height = layout.is_top_down ? -layout.height : layout.height;
  if (layout.width <= 0 || layout.height == 0) {
    return source.invalid(fmt::format("a bitmap of {} x {} pixels", layout.width, layout.height));
  }
  if (planes != 1) return source.invalid(fmt::format("a bitmap of {} planes", planes));
  return {};
}

Result<void> check_coding(const Source& source, const Layout& layout) {
  const uint32_t bits = layout.bits, coding = layout.compression;
  if (coding == kRle8 || coding == kRle4) {
    return source.error(ErrorKind::Unimplemented, "a run-length coded bitmap: convert it to PNG");
  }
  if (layout.header == kOs2Header && coding != kPlain) {
    return source.error(ErrorKind::Unimplemented, fmt::format("an OS/2 bitmap of compression {}", coding));
  }
  if (coding == kJpeg || coding == kPng) {
    return source.error(ErrorKind::Unimplemented,
                        fmt::format("a bitmap that contains a {}", coding == kJpeg ? "JPEG" : "PNG"));
  }
  const bool has_fields = coding == kBitFields || coding == kAlphaFields;
  if (!has_fields && coding != kPlain) return source.invalid(fmt::format("a bitmap of compression {}", coding));
  const bool is_valid = has_fields ? bits == 16 || bits == 32
                                   : bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if (!is_valid) return source.invalid(fmt::format("a bitmap of {} bits a pixel, compression {}", bits, coding));
  return {};
}

// The masks follow a header of 40 bytes; a longer header has them at the same offset.
Result<void> read_fields(const Source& source, Layout& layout) {
  constexpr uint64_t kMasks = kFileHeader + kInfoHeader;
  if (layout.bits == 16) layout.fields = {Field{0x7c00}, Field{0x03e0}, Field{0x001f}, Field{}};
  if (layout.bits == 32) layout.fields = {Field{0xff0000}, Field{0x00ff00}, Field{0x0000ff}, Field{}};
  layout.palette = kFileHeader + layout.header;
  if (layout.compression == kPlain) return {};
  const bool is_inside = layout.header >= kInfoHeader + 12;
  const bool has_alpha = is_inside ? layout.header >= kInfoHeader + 16 : layout.compression == kAlphaFields;
  const uint64_t count = has_alpha ? 4 : 3;
  HEADPOND_TRY(source.need(kMasks + 4 * count));
  for (size_t i = 0; i < count; ++i) layout.fields[i].mask = source.word(kMasks + 4 * i);
  if (!is_inside) layout.palette += 4 * count;
  uint32_t seen = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Field field = layout.fields[i];
    const bool is_outside = layout.bits == 16 && field.mask > 0xffff;
    if ((field.mask == 0 && i < 3) || !field.is_run() || is_outside || (field.mask & seen) != 0) {
      return source.invalid(fmt::format("bit field {:#x} at offset {}", field.mask, kMasks + 4 * i));
    }
    seen |= field.mask;
  }
  return {};
}

Result<void> read_palette(const Source& source, Layout& layout) {
  if (!layout.has_palette()) return {};
  const bool is_core = layout.header == kCoreHeader;
  const uint64_t most = uint64_t{1} << layout.bits;
  layout.entry_bytes = is_core ? 3 : 4;
  layout.entries = is_core ? 0 : source.word(46);
  if (layout.entries > most) {
    return source.invalid(fmt::format("{} colours for {} bits a pixel", layout.entries, layout.bits));
  }
  if (layout.entries == 0) layout.entries = most;
  // Some writers leave out colours that no pixel has.
  if (layout.pixels > layout.palette) {
    layout.entries = std::min(layout.entries, (layout.pixels - layout.palette) / layout.entry_bytes);
  }
  return {};
}

Result<Layout> read_layout(const Source& source) {
  HEADPOND_TRY(source.need(kFileHeader + 4));
  Layout layout;
  HEADPOND_TRY(read_sizes(source, layout));
  HEADPOND_TRY(check_coding(source, layout));
  HEADPOND_TRY(read_fields(source, layout));
  layout.pixels = source.word(10);
  HEADPOND_TRY(read_palette(source, layout));
  const uint64_t before = layout.palette + layout.entries * layout.entry_bytes;
  if (layout.pixels < before) {
    return source.invalid(
        fmt::format("pixels at offset {}, which belongs to the {} bytes before them", layout.pixels, before));
  }
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(layout.row_bytes(), static_cast<uint64_t>(layout.height), &bytes)) bytes = UINT64_MAX / 2;
  HEADPOND_TRY(source.need_in_file(layout.pixels + bytes));
  return layout;
}

using Palette = std::array<std::array<uint8_t, 3>, 256>;

// Colours that the file does not have are black.
Palette palette_of(const Source& file, const Layout& layout) {
  Palette palette = {};
  for (uint64_t i = 0; i < layout.entries; ++i) {
    const uint64_t at = layout.palette + i * layout.entry_bytes;
    palette[i] = {file.byte(at + 2), file.byte(at + 1), file.byte(at)};
  }
  return palette;
}

void index_row(const Layout& layout, const Palette& palette, const uint8_t* from, uint8_t* to) {
  const uint32_t each = 8 / layout.bits, mask = (1U << layout.bits) - 1;
  for (int64_t x = 0; x < layout.width; ++x, to += 3) {
    const auto place = static_cast<uint64_t>(x);
    const uint32_t shift = static_cast<uint32_t>(each - 1 - place % each) * layout.bits;
    const auto& color = palette[(uint32_t{from[place / each]} >> shift) & mask];
    std::copy(color.begin(), color.end(), to);
  }
}

void color_row(const Layout& layout, const uint8_t* from, uint8_t* to) {
  const size_t channels = layout.has_alpha() ? 4 : 3, bytes = layout.bits / 8;
  for (int64_t x = 0; x < layout.width; ++x, from += bytes, to += channels) {
    if (layout.bits == 24) {
      to[0] = from[2], to[1] = from[1], to[2] = from[0];
      continue;
    }
    uint32_t pixel = 0;
    for (size_t i = 0; i < bytes; ++i) pixel |= uint32_t{from[i]} << (8 * i);
    for (size_t i = 0; i < channels; ++i) to[i] = layout.fields[i].value(pixel);
  }
}

}  // namespace

Result<Picture> bmp_picture(const Source& source) {
  const auto layout = read_layout(source);
  if (!layout) return fail(layout.error());
  return Picture{layout->height, layout->width, layout->has_alpha() ? 4 : 3};
}

Result<void> decode_bmp(const Source& file, const PixelTarget& to) {
  const auto layout = read_layout(file);
  if (!layout) return fail(layout.error());
  const Palette palette = palette_of(file, *layout);
  const int channels = layout->has_alpha() ? 4 : 3;
  std::vector<uint8_t> row(static_cast<size_t>(layout->width) * static_cast<size_t>(channels));
  for (int64_t y = 0; y < layout->height; ++y) {
    const uint64_t at = layout->pixels + static_cast<uint64_t>(y) * layout->row_bytes();
    const auto* const from = reinterpret_cast<const uint8_t*>(file.head.data() + at);
    if (layout->has_palette()) {
      index_row(*layout, palette, from, row.data());
    } else {
      color_row(*layout, from, row.data());
    }
    to.put_row(layout->is_top_down ? y : layout->height - 1 - y, row.data(), channels);
  }
  return {};
}

}  // namespace headpond::image_internal
