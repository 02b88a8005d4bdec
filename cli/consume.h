// SPDX-License-Identifier: Apache-2.0
// How a bench reads what it is given: all of it, and as fast as memory allows, so that nobody delivers pages untouched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "headpond/tensor/element.h"

namespace headpond::cli {

inline constexpr const char* kXorName = "xor64x4";

/// Xor of all 64-bit words in four lanes, and of the bytes that are left.
inline uint64_t xor_of(std::span<const std::byte> bytes) {
  std::array<uint64_t, 4> lanes = {};
  size_t i = 0;
  for (; i + sizeof(lanes) <= bytes.size(); i += sizeof(lanes)) {
    std::array<uint64_t, 4> words;
    std::memcpy(words.data(), bytes.data() + i, sizeof(words));
    for (size_t lane = 0; lane < words.size(); ++lane) lanes[lane] ^= words[lane];
  }
  uint64_t rest = 0;
  for (; i < bytes.size(); ++i) rest = rest << 8 ^ static_cast<uint64_t>(bytes[i]);
  return lanes[0] ^ lanes[1] ^ lanes[2] ^ lanes[3] ^ rest;
}

inline uint64_t xor_of(const Element& element) {
  uint64_t all = 0;
  for (size_t i = 0; i < element.size(); ++i) all ^= xor_of({element[i].data(), element[i].byte_size()});
  return all;
}

}  // namespace headpond::cli
