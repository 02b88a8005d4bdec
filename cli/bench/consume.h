// SPDX-License-Identifier: Apache-2.0
// How a bench reads what it is given: all of it, and as fast as memory allows, so that nobody delivers pages untouched.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/tensor/element.h"

namespace headpond::cli {

inline constexpr const char* kXorName = "xor64x4";

/// Xor of all 64-bit words in four lanes, and of the bytes that are left.
inline uint64_t xor_of(std::span<const std::byte> bytes) {
  std::array<uint64_t, 4> lanes = {};
  size_t i = 0;
  for (; i + sizeof(lanes) <= bytes.size(); i += sizeof(lanes)) {
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      uint64_t word = 0;  // One at a time: g++ puts an array of them on the stack.
      std::memcpy(&word, bytes.data() + i + lane * sizeof(word), sizeof(word));
      lanes[lane] ^= word;
    }
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

/// What xor_of alone costs: the best of several goes over a block that stays in the cache.
inline double xor_ns_per_kib() {
  std::vector<std::byte> block(16 << 10);
  double best = 0;
  for (int go = 0; go < 20; ++go) {
    const int64_t began = now_ns();
    uint64_t all = 0;
    for (int i = 0; i < 200; ++i) {
      all ^= xor_of(std::span<const std::byte>(block));
      block[static_cast<size_t>(i)] = static_cast<std::byte>(all + 1);  // So that no turn can be left out.
    }
    const double ns = static_cast<double>(now_ns() - began) / (200.0 * 16);
    best = go == 0 ? ns : std::min(best, ns);
  }
  return best;
}

}  // namespace headpond::cli
