// SPDX-License-Identifier: Apache-2.0
// The two 16-bit floats, from and to float: f16 (IEEE 754 binary16) and bf16 (the upper half of a float). Values are
// rounded to the nearest, ties to even; a NaN stays a NaN; subnormal numbers are kept. Pure functions, the same bits on
// every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace headpond {

inline uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

inline uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
  const uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) return static_cast<uint16_t>(sign | 0x7e00U | ((size >> 13) & 0x1ffU));
  if (size >= 0x477ff000U) return static_cast<uint16_t>(sign | 0x7c00U);  // 65,520 and above: infinity.
  if (size < 0x38800000U) {  // Below 2^-14: the addition leaves a multiple of 2^-24 in the low bits.
    const float shifted = std::bit_cast<float>(size) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000U));
  }
  return static_cast<uint16_t>(sign | ((size - 0x38000000U + 0xfffU + ((size >> 13) & 1U)) >> 13));
}

inline float from_f16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t size = bits & 0x7fffU;
  if (size >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | size << 13);
  if (size < 0x0400U) {
    const float value = static_cast<float>(size) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((size << 13) + 0x38000000U));
}

}  // namespace headpond
