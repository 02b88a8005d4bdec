// SPDX-License-Identifier: Apache-2.0
// Digits as if written by many hands, for programs without data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headpond {

inline constexpr int kDigitSide = 28;

struct Digit {
  uint8_t label;                                        ///< 0 to 9.
  std::array<uint8_t, kDigitSide * kDigitSide> pixels;  ///< Row by row; 0 is paper, 255 is ink.
};

/// Image `index` of an endless set: one of several shapes of a digit, with moved points, rotated, slanted, scaled and
/// shifted, with a varying pen and dirt. A pure function with the same bytes on every machine: it uses only additions,
/// products, quotients and square roots, which IEEE 754 defines exactly.
Digit draw_digit(uint64_t index);

}  // namespace headpond
