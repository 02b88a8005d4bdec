// SPDX-License-Identifier: Apache-2.0
// Pictures that `headpond view` draws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::cli {

using Color = std::array<uint8_t, 3>;

/// RGB, row by row. Drawing outside of it does nothing.
struct Picture {
  Picture(int64_t w, int64_t h, Color color = {0, 0, 0});

  int64_t width, height;
  std::vector<uint8_t> rgb;

  void set(int64_t x, int64_t y, Color color);
  void line(double x0, double y0, double x1, double y1, Color color);
  /// The edges between neighbouring corners, and from the last to the first.
  void outline(const std::vector<std::array<double, 2>>& corners, Color color);
  void fill(int64_t x, int64_t y, int64_t w, int64_t h, Color color);
  void paste(const Picture& other, int64_t x, int64_t y);
  /// A number, 5 pixels high for each of `size`, its left upper corner at x, y.
  void number(int64_t value, int64_t x, int64_t y, int64_t size, Color color);
  /// At most so large; sides keep their ratio. Each pixel is the nearest one, or a block of equal pixels.
  Picture fitted(int64_t most_width, int64_t most_height) const;
};

/// A PNG.
Result<std::vector<std::byte>> encoded(const Picture& picture);

/// 0 to 1 as a colour: dark blue, violet, orange, light yellow.
Color heat(double value);

}  // namespace headpond::cli
