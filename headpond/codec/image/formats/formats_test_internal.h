// SPDX-License-Identifier: Apache-2.0
// Images for tests, byte by byte, and what every decoder must do with cut and changed files.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/formats/image.h"

namespace headpond::test {

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Little-endian, `size` bytes.
inline std::string little(uint64_t value, int size) {
  std::string text;
  for (int i = 0; i < size; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

inline std::string from_hex(std::string_view text) {
  std::string made;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    made += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return made;
}

/// The CRC-32 of the pixels; 0 for an error.
inline uint32_t checksum_of(std::string_view file, const ImageOptions& options = {}) {
  const auto image = decode_image(bytes_of(file), options);
  if (!image) return 0;
  const auto* const data = reinterpret_cast<const Bytef*>(image->pixels.data());
  return static_cast<uint32_t>(crc32(0, data, static_cast<uInt>(image->pixels.byte_size())));
}

inline std::vector<uint8_t> values_of(std::string_view file, const ImageOptions& options = {}) {
  const auto image = decode_image(bytes_of(file), options);
  if (!image) return {};
  const auto values = image->pixels.as<uint8_t>();
  return {values.begin(), values.end()};
}

inline std::string error_of(std::string_view file, const ImageOptions& options = {}) {
  const auto image = decode_image(bytes_of(file), options);
  return image ? "no error" : image.error().to_string();
}

/// "" iff the image of `file` cut at `size` is an error, and its head agrees with the whole file or is too short.
inline std::string fault_of_cut(const std::string& file, size_t size) {
  const auto whole = image_info(bytes_of(file), file.size());
  const auto head = image_info(bytes_of(file).first(size), file.size());
  if (head && *head != *whole) return "the head says something else";
  if (!head && head.error().kind() != ErrorKind::FailedPrecondition) return head.error().to_string();
  return decode_image(bytes_of(file).first(size)) ? "pixels of a cut file" : "";
}

/// Decodes `file` with one changed bit, `times` times. Sanitizers watch. Returns how many gave pixels.
inline int flip_bits(const std::string& file, int times) {
  Random random(3);
  int decoded = 0;
  for (int i = 0; i < times; ++i) {
    std::string changed = file;
    const uint32_t bit = random.below(static_cast<uint32_t>(file.size() * 8));
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    decoded += decode_image(bytes_of(changed), {.max_pixels = 1 << 16}) ? 1 : 0;
  }
  return decoded;
}

struct BmpOf {
  int32_t width = 2, height = 2;
  int bits = 24;
  int compression = 0;
  std::vector<uint32_t> palette = {};  // 0xrrggbb
  std::vector<uint32_t> masks = {};    // In the header if there are 4.
  std::string rows = {};               // As stored, padded.

  std::string file() const {
    const int header = masks.size() == 4 ? 56 : 40;
    std::string tail;
    for (const uint32_t mask : masks) tail += little(mask, 4);
    for (const uint32_t color : palette) tail += little(color, 4);
    const size_t pixels = 54 + tail.size();
    return "BM" + little(pixels + rows.size(), 4) + little(0, 4) + little(pixels, 4) +
           little(static_cast<uint64_t>(header), 4) + little(static_cast<uint32_t>(width), 4) +
           little(static_cast<uint32_t>(height), 4) + little(1, 2) + little(static_cast<uint64_t>(bits), 2) +
           little(static_cast<uint64_t>(compression), 4) + little(rows.size(), 4) + little(0, 8) +
           little(palette.size(), 4) + little(0, 4) + tail + rows;
  }
};

/// Of 4 colours, whose data are codes of 3 bits without compression.
struct GifOf {
  uint16_t width = 2, height = 2;
  uint16_t x = 0, y = 0, frame_width = 2, frame_height = 2;
  std::vector<uint8_t> indices = {0, 1, 2, 3};
  int transparent = -1;
  bool is_interlaced = false;
  bool has_palette = true;
  std::string local_palette = {};  // 12 bytes.

  std::string data() const {
    constexpr uint32_t kClear = 4, kEnd = 5;
    std::string packed;
    uint32_t waiting = 0;
    int bits = 0;
    const auto put = [&](uint32_t code) {
      waiting |= code << bits;
      for (bits += 3; bits >= 8; bits -= 8, waiting >>= 8) packed += static_cast<char>(waiting & 0xff);
    };
    for (const uint8_t index : indices) {
      put(kClear);
      put(index);
    }
    put(kEnd);
    if (bits > 0) packed += static_cast<char>(waiting);
    std::string blocks = "\x02";
    for (size_t at = 0; at < packed.size(); at += 255) {
      const std::string part = packed.substr(at, 255);
      blocks += little(part.size(), 1) + part;
    }
    return blocks + little(0, 1);
  }
  std::string file() const {
    const std::string palette("\x0a\x14\x1e\x28\x32\x3c\x46\x50\x5a\x64\x6e\x78");
    std::string made = "GIF89a" + little(width, 2) + little(height, 2) + little(has_palette ? 0x81 : 1, 1) +
                       little(0, 2) + (has_palette ? palette : "");
    if (transparent >= 0) made += "\x21\xf9\x04\x01" + little(0, 2) + little(static_cast<uint64_t>(transparent), 2);
    const int flags = (is_interlaced ? 0x40 : 0) | (local_palette.empty() ? 0 : 0x81);
    return made + "\x2c" + little(x, 2) + little(y, 2) + little(frame_width, 2) + little(frame_height, 2) +
           little(static_cast<uint64_t>(flags), 1) + local_palette + data() + ";";
  }
};

}  // namespace headpond::test
