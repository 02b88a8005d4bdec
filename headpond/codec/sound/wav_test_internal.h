// SPDX-License-Identifier: Apache-2.0
// WAV files for tests, chunk by chunk.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace headpond::test {

inline std::string u16_text(uint32_t value) {
  return {static_cast<char>(value & 0xff), static_cast<char>(value >> 8 & 0xff)};
}
inline std::string u32_text(uint32_t value) { return u16_text(value & 0xffff) + u16_text(value >> 16); }

/// An id, the size of `body`, `body`, and a zero after an odd size.
inline std::string chunk(std::string_view id, const std::string& body) {
  return std::string(id) + u32_text(static_cast<uint32_t>(body.size())) + body + std::string(body.size() % 2, '\0');
}

struct FormatChunk {
  uint16_t code = 1, channels = 1;
  uint32_t rate = 8000;
  int byte_rate = -1, block_align = -1;  // -1: what follows from the others.
  uint16_t bits = 16;
  std::string rest = {};

  std::string body() const {
    const int frame = channels * bits / 8;
    return u16_text(code) + u16_text(channels) + u32_text(rate) +
           u32_text(byte_rate < 0 ? rate * static_cast<uint32_t>(frame) : static_cast<uint32_t>(byte_rate)) +
           u16_text(static_cast<uint32_t>(block_align < 0 ? frame : block_align)) + u16_text(bits) + rest;
  }
  std::string text() const { return chunk("fmt ", body()); }
};

inline std::string samples(const std::vector<int16_t>& values) {
  std::string text(2 * values.size(), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

inline std::string riff(const std::string& chunks) {
  return "RIFF" + u32_text(static_cast<uint32_t>(4 + chunks.size())) + "WAVE" + chunks;
}

}  // namespace headpond::test
