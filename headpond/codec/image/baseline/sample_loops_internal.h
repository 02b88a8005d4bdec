// SPDX-License-Identifier: Apache-2.0
// The loops of SampleCode without vectors, from any place of a row on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headpond::jpeg_internal {

// The multipliers of the inverse DCT, times 2^13, in the pairs in which products are added.
struct DctFactors {
  static constexpr int16_t kEven[2][2] = {{4433, -10704}, {10703, 4433}};
  static constexpr int16_t kShared[2][2] = {{-6436, 9633}, {9633, 6437}};
  static constexpr int16_t kOuter[2][2] = {{-4927, -7373}, {-7373, 4926}};
  static constexpr int16_t kInner[2][2] = {{-4176, -20995}, {-20995, 4177}};
};

constexpr int kDctBits = 13;
constexpr int kFirstShift = 11, kSecondShift = 18;

constexpr int kRed = 26345, kBlue = -14942, kGreenOfBlue = -22554, kGreenOfRed = 18734;

inline uint8_t to_sample(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

inline void enlarge_from(const uint8_t* near, const uint8_t* far, size_t begin, size_t size, uint8_t* to) {
  const auto sum = [near, far](ptrdiff_t i) { return 3 * near[i] + far[i]; };
  for (size_t i = begin; i < size; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    to[2 * i] = static_cast<uint8_t>((3 * sum(at) + sum(at - 1) + 8) >> 4);
    to[2 * i + 1] = static_cast<uint8_t>((3 * sum(at) + sum(at + 1) + 7) >> 4);
  }
}

inline void widen_from(const uint8_t* near, size_t begin, size_t size, uint8_t* to) {
  for (size_t i = begin; i < size; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    to[2 * i] = static_cast<uint8_t>((3 * near[at] + near[at - 1] + 1) >> 2);
    to[2 * i + 1] = static_cast<uint8_t>((3 * near[at] + near[at + 1] + 2) >> 2);
  }
}

inline void blend_from(const uint8_t* near, const uint8_t* far, int bias, size_t begin, size_t size, uint8_t* to) {
  for (size_t i = begin; i < size; ++i) to[i] = static_cast<uint8_t>((3 * near[i] + far[i] + bias) >> 2);
}

inline void repeat_from(const uint8_t* from, size_t begin, size_t size, uint8_t* to) {
  for (size_t i = begin; i < size; ++i) to[2 * i] = to[2 * i + 1] = from[i];
}

// 1.402 is 1 + kRed / 2^16; 1.772 is 2 + kBlue / 2^16; -0.71414 is -1 + kGreenOfRed / 2^16.
inline void to_rgb_from(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t begin, size_t size,
                        uint8_t* to) {
  constexpr int kHalf = 1 << 15;
  for (size_t i = begin; i < size; ++i) {
    const int blue = cb[i] - 128, red = cr[i] - 128;
    to[3 * i] = to_sample(y[i] + red + ((kRed * red + kHalf) >> 16));
    to[3 * i + 1] = to_sample(y[i] - red + ((kGreenOfBlue * blue + kGreenOfRed * red + kHalf) >> 16));
    to[3 * i + 2] = to_sample(y[i] + 2 * blue + ((kBlue * blue + kHalf) >> 16));
  }
}

}  // namespace headpond::jpeg_internal
