// SPDX-License-Identifier: Apache-2.0
// The formula of fill_normal: constants for all implementations, and the scalar implementation. It is a template over
// the arithmetic so that a test can show that a fused multiply-add would change bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "headpond/base/random.h"

namespace headpond::normal_internal {

inline constexpr size_t kCounters = 16;  // Philox blocks in a block of normals

// -2 ln(u) = e * kLogTwo + f * (kLog[0] + kLog[1] f + ...) with u = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
// Minimax of the relative error, 5.2e-8.
inline constexpr uint32_t kRootHalf = 0x3f3504f3;  // the bits of sqrt(1/2)
inline constexpr uint32_t kMantissa = 0x007fffff;
inline constexpr uint32_t kRadiusScale = 31U << 23;  // u is kept times 2^31
inline constexpr float kLogTwo = -1.38629436111989062F;
inline constexpr float kLog[9] = {-1.9999999483802757F,  0.9999997592893839F,   -0.6666837122977224F,
                                  0.5000414809295739F,   -0.39913667867695357F, 0.3312478743317481F,
                                  -0.29904526844477863F, 0.2873367656654054F,   -0.1744471877885738F};

// On [-pi/4, pi/4]: sin x = x + x y (kSine[0] + ...), cos x = 1 + y (kCosine[0] + ...), y = x x.
// Minimax of the relative error, 3.8e-9 and 3.8e-8.
inline constexpr float kEighthTurn = 0x1p-31F * 0.785398163397448310F;
inline constexpr float kSine[3] = {-0.16666654609593307F, 0.008332160764147913F, -0.0001951528343668042F};
inline constexpr float kCosine[3] = {-0.49999884745978795F, 0.04165577704490377F, -0.0013591853574732257F};

struct Pair {
  float first;
  float second;
};

/// Two roundings, as in every implementation.
struct Plain {
  static float multiply_add(float a, float b, float c) {
    const float product = a * b;
    return product + c;
  }
};

template <class Arithmetic>
float minus_two_log(uint32_t word) {
  const float u = static_cast<float>(static_cast<int32_t>(word >> 1)) + 0.5F;
  const uint32_t bits = std::bit_cast<uint32_t>(u) - (kRootHalf + kRadiusScale);
  const auto exponent = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  const float f = std::bit_cast<float>((bits & kMantissa) + kRootHalf) - 1.0F;
  float sum = kLog[8];
  for (int i = 7; i >= 0; --i) sum = Arithmetic::multiply_add(sum, f, kLog[i]);
  return Arithmetic::multiply_add(sum, f, exponent * kLogTwo);
}

template <class Arithmetic>
Pair box_muller(uint32_t u, uint32_t v) {
  const uint32_t sign = v & 0x80000000U;
  const float radius = std::bit_cast<float>(std::bit_cast<uint32_t>(std::sqrt(minus_two_log<Arithmetic>(u))) ^ sign);
  const float x = static_cast<float>(static_cast<int32_t>(v << 2)) * kEighthTurn;
  const float y = x * x;
  float sine = Arithmetic::multiply_add(kSine[2], y, kSine[1]);
  sine = Arithmetic::multiply_add(sine, y, kSine[0]);
  sine = Arithmetic::multiply_add(sine * y, x, x);
  float cosine = Arithmetic::multiply_add(kCosine[2], y, kCosine[1]);
  cosine = Arithmetic::multiply_add(cosine, y, kCosine[0]);
  cosine = Arithmetic::multiply_add(cosine, y, 1.0F);
  const bool swap = (v & 0x40000000U) != 0;
  return {radius * (swap ? sine : cosine), radius * (swap ? cosine : sine)};
}

/// The values of fill_normal, in whole blocks.
template <class Arithmetic>
void fill_blocks(float* out, size_t blocks, RandomKey key, uint64_t element, uint64_t first_block) {
  for (size_t block = 0; block < blocks; ++block, out += 4 * kCounters) {
    for (size_t i = 0; i < kCounters; ++i) {
      const auto words = philox(key, element, (first_block + block) * kCounters + i);
      const Pair a = box_muller<Arithmetic>(words[0], words[1]);
      const Pair b = box_muller<Arithmetic>(words[2], words[3]);
      out[i] = a.first;
      out[i + kCounters] = a.second;
      out[i + 2 * kCounters] = b.first;
      out[i + 3 * kCounters] = b.second;
    }
  }
}

}  // namespace headpond::normal_internal
