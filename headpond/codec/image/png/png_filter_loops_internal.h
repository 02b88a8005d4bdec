// SPDX-License-Identifier: Apache-2.0
// The loops of the filters without vectors, from any pixel of a row on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace headpond::png_internal {

struct ByLeft {
  static int predicted(int left, int, int) { return left; }
};
struct ByAverage {
  static int predicted(int left, int up, int) { return (left + up) / 2; }
};
struct ByPaeth {
  static int predicted(int left, int up, int corner) {
    const int to_left = std::abs(up - corner), to_up = std::abs(left - corner);
    const int to_corner = std::abs(left + up - 2 * corner);
    const int nearer = to_up <= to_corner ? up : corner;
    return to_left <= to_up && to_left <= to_corner ? left : nearer;
  }
};

template <class Predictor, size_t kPixel>
void undo_from(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t begin, size_t size) {
  std::array<uint8_t, kPixel> left = {}, corner = {};
  if (begin > 0) {
    std::memcpy(left.data(), row + begin - kPixel, kPixel);
    std::memcpy(corner.data(), before + begin - kPixel, kPixel);
  }
  for (size_t i = begin; i < size; i += kPixel) {
    for (size_t c = 0; c < kPixel; ++c) {
      const uint8_t up = before[i + c];
      left[c] = static_cast<uint8_t>(raw[i + c] + Predictor::predicted(left[c], up, corner[c]));
      corner[c] = up;
      row[i + c] = left[c];
    }
  }
}

inline void undo_up_from(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t begin, size_t size) {
  for (size_t i = begin; i < size; ++i) row[i] = static_cast<uint8_t>(raw[i] + before[i]);
}

inline void copy_row(const uint8_t* raw, const uint8_t*, uint8_t* row, size_t size) { std::memcpy(row, raw, size); }

}  // namespace headpond::png_internal
