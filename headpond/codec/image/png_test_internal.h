// SPDX-License-Identifier: Apache-2.0
// PNG files for tests, chunk by chunk, of every colour type, depth and interlace, written by the standard (ISO 15948)
// without libpng, and the pixels they must decode to.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headpond::test {

inline std::string big_endian(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

inline std::string png_chunk(std::string_view type, std::string_view body) {
  const std::string checked = std::string(type) + std::string(body);
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<uint32_t>(body.size())) + checked + big_endian(static_cast<uint32_t>(crc));
}

inline std::string deflated(const std::string& raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
            static_cast<uLong>(raw.size()), 6);
  out.resize(size);
  return out;
}

inline const std::string kPngSignature = "\x89PNG\r\n\x1a\n";

/// An image whose values depend on their positions, so that every bit of a value occurs.
struct PngImageOf {
  uint32_t width = 5, height = 3;
  int color_type = 0, bit_depth = 8;
  bool is_interlaced = false;
  int filter = 0;  // Of every row: 0 none, 1 left, 2 up, 3 average, 4 Paeth; 5: each in turn.

  int values() const { return std::array{1, 0, 3, 1, 2, 0, 4}[static_cast<size_t>(color_type)]; }
  uint32_t value(uint32_t y, uint32_t x, int channel) const {
    const uint32_t mixed = (y * 31 + x * 7 + static_cast<uint32_t>(channel) * 57 + 1) * 2654435761U;
    return mixed >> 8 & ((1U << bit_depth) - 1);
  }

  std::string header() const {
    const std::array<char, 5> rest = {static_cast<char>(bit_depth), static_cast<char>(color_type), 0, 0,
                                      static_cast<char>(is_interlaced)};
    return png_chunk("IHDR", big_endian(width) + big_endian(height) + std::string(rest.data(), rest.size()));
  }

  /// The prediction of a filter for a byte from its neighbours left, above, above left.
  static int predicted(int type, int left, int up, int corner) {
    if (type < 4) return std::array{0, left, up, (left + up) / 2}[static_cast<size_t>(type)];
    const int sum = left + up - corner;
    const int to_left = std::abs(sum - left), to_up = std::abs(sum - up), to_corner = std::abs(sum - corner);
    if (to_left <= to_up && to_left <= to_corner) return left;
    return to_up <= to_corner ? up : corner;
  }

  /// A row with its filter type; `before` is the row above, or empty.
  std::string filtered(const std::string& row, const std::string& before, int type) const {
    const auto pixel = static_cast<size_t>(std::max(1, values() * bit_depth / 8));
    const auto byte = [](const std::string& of, size_t at) { return static_cast<uint8_t>(of[at]); };
    std::string out(1, static_cast<char>(type));
    for (size_t i = 0; i < row.size(); ++i) {
      const int left = i < pixel ? 0 : byte(row, i - pixel), up = before.empty() ? 0 : byte(before, i);
      const int corner = i < pixel || before.empty() ? 0 : byte(before, i - pixel);
      out += static_cast<char>(byte(row, i) - predicted(type, left, up, corner));
    }
    return out;
  }

  /// The rows of a pass, from (y0, x0) on in steps, each with its filter type.
  std::string pass(uint32_t y0, uint32_t x0, uint32_t dy, uint32_t dx) const {
    std::string raw, before;
    for (uint32_t y = y0; y < height && x0 < width; y += dy) {
      std::string bits;
      for (uint32_t x = x0; x < width; x += dx) {
        for (int c = 0; c < values(); ++c) {
          for (int bit = bit_depth - 1; bit >= 0; --bit) bits += static_cast<char>(value(y, x, c) >> bit & 1);
        }
      }
      bits.resize((bits.size() + 7) / 8 * 8);
      std::string row;
      for (size_t at = 0; at < bits.size(); at += 8) {
        int byte = 0;
        for (size_t i = 0; i < 8; ++i) byte = byte << 1 | bits[at + i];
        row += static_cast<char>(byte);
      }
      raw += filtered(row, before, filter < 5 ? filter : static_cast<int>((y - y0) / dy % 5));
      before = row;
    }
    return raw;
  }

  std::string raw() const {
    if (!is_interlaced) return pass(0, 0, 1, 1);
    return pass(0, 0, 8, 8) + pass(0, 4, 8, 8) + pass(4, 0, 8, 4) + pass(0, 2, 4, 4) + pass(2, 0, 4, 2) +
           pass(0, 1, 2, 2) + pass(1, 0, 2, 1);
  }

  std::string data() const { return png_chunk("IDAT", deflated(raw())); }

  static std::array<uint32_t, 3> color(uint32_t index) { return {index * 3 % 256, 255 - index, index * 101 % 256}; }
  static uint32_t alpha(uint32_t index, uint32_t alphas) { return index < alphas ? index * 40 % 256 : 255; }
  std::string palette() const {
    std::string body;
    for (uint32_t i = 0; i < 1U << bit_depth; ++i) {
      for (const uint32_t value : color(i)) body += static_cast<char>(value);
    }
    return color_type == 3 ? png_chunk("PLTE", body) : "";
  }
  /// For a palette the first alphas; else the transparent colour, which is that of pixel (0, 0).
  std::string transparency(uint32_t alphas = 1) const {
    std::string body;
    for (uint32_t i = 0; color_type == 3 && i < alphas; ++i) body += static_cast<char>(alpha(i, alphas));
    for (int c = 0; color_type != 3 && c < values(); ++c) body += big_endian(value(0, 0, c)).substr(2);
    return png_chunk("tRNS", body);
  }

  std::string file(const std::string& before_data = "", const std::string& after_data = "") const {
    return kPngSignature + header() + palette() + before_data + data() + after_data + png_chunk("IEND", "");
  }

  /// Pixel (y, x) as red, green, blue, alpha of `to` bits, 8 or 16. `alphas` > 0: with transparency().
  std::array<uint32_t, 4> rgba(uint32_t y, uint32_t x, int to, uint32_t alphas = 0) const {
    const uint32_t most = (1U << to) - 1;
    std::array<uint32_t, 4> pixel = {0, 0, 0, most};
    const auto scaled = [&](uint32_t v, int from) { return from > to ? v >> 8 : v * (most / ((1U << from) - 1)); };
    const uint32_t first = value(y, x, 0);
    bool is_key = alphas > 0;
    for (int c = 0; c < values(); ++c) is_key = is_key && value(y, x, c) == value(0, 0, c);
    if (color_type == 3) {
      for (size_t c = 0; c < 3; ++c) pixel[c] = scaled(color(first)[c], 8);
      pixel[3] = scaled(alpha(first, alphas), 8);
      return pixel;
    }
    for (int c = 0; c < 3; ++c) pixel[static_cast<size_t>(c)] = scaled(value(y, x, color_type & 2 ? c : 0), bit_depth);
    if (color_type & 4) pixel[3] = scaled(value(y, x, values() - 1), bit_depth);
    if (is_key) pixel[3] = 0;
    return pixel;
  }
};

/// All valid pairs (colour type, bit depth).
inline constexpr std::array<std::pair<int, int>, 15> kPngKinds = {{{0, 1},
                                                                   {0, 2},
                                                                   {0, 4},
                                                                   {0, 8},
                                                                   {0, 16},
                                                                   {2, 8},
                                                                   {2, 16},
                                                                   {3, 1},
                                                                   {3, 2},
                                                                   {3, 4},
                                                                   {3, 8},
                                                                   {4, 8},
                                                                   {4, 16},
                                                                   {6, 8},
                                                                   {6, 16}}};

}  // namespace headpond::test
