// SPDX-License-Identifier: Apache-2.0
#include "cli/view/picture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "headpond/codec/image/png.h"
#include "headpond/tensor/tensor.h"

namespace headpond::cli {
namespace {

// Rows of three pixels, the left one in the highest of 3 bits.
constexpr uint16_t kDigits[10] = {075557, 022222, 071747, 071717, 055711, 074717, 074757, 071111, 075757, 075717};

}  // namespace

Picture::Picture(int64_t w, int64_t h, Color color)
    : width(std::max<int64_t>(w, 0)), height(std::max<int64_t>(h, 0)), rgb(static_cast<size_t>(width * height * 3)) {
  fill(0, 0, width, height, color);
}

void Picture::set(int64_t x, int64_t y, Color color) {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  std::copy_n(color.begin(), 3, rgb.begin() + (y * width + x) * 3);
}

void Picture::line(double x0, double y0, double x1, double y1, Color color) {
  if (!std::isfinite(x0) || !std::isfinite(y0) || !std::isfinite(x1) || !std::isfinite(y1)) return;
  const double most = 4.0 * static_cast<double>(width + height);
  const double steps = std::min(std::ceil(std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0})), most);
  for (double i = 0; i <= steps; ++i) {
    const double x = x0 + (x1 - x0) * i / steps, y = y0 + (y1 - y0) * i / steps;
    if (std::abs(x) < most && std::abs(y) < most)
      set(static_cast<int64_t>(std::floor(x)), static_cast<int64_t>(std::floor(y)), color);
  }
}

void Picture::outline(const std::vector<std::array<double, 2>>& corners, Color color) {
  for (size_t i = 0; i < corners.size(); ++i) {
    const auto& from = corners[i];
    const auto& to = corners[(i + 1) % corners.size()];
    line(from[0], from[1], to[0], to[1], color);
  }
}

void Picture::fill(int64_t x, int64_t y, int64_t w, int64_t h, Color color) {
  for (int64_t row = std::max<int64_t>(y, 0); row < std::min(y + h, height); ++row) {
    for (int64_t column = std::max<int64_t>(x, 0); column < std::min(x + w, width); ++column) set(column, row, color);
  }
}

void Picture::paste(const Picture& other, int64_t x, int64_t y) {
  for (int64_t row = 0; row < other.height; ++row) {
    for (int64_t column = 0; column < other.width; ++column) {
      const auto* const from = other.rgb.data() + (row * other.width + column) * 3;
      set(x + column, y + row, {from[0], from[1], from[2]});
    }
  }
}

void Picture::number(int64_t value, int64_t x, int64_t y, int64_t size, Color color) {
  for (const char digit : std::to_string(value)) {
    if (digit < '0' || digit > '9') continue;
    for (int bit = 0; bit < 15; ++bit) {
      if ((kDigits[digit - '0'] >> (14 - bit) & 1) == 1)
        fill(x + bit % 3 * size, y + bit / 3 * size, size, size, color);
    }
    x += 4 * size;
  }
}

Picture Picture::fitted(int64_t most_width, int64_t most_height) const {
  if (width == 0 || height == 0) return Picture(0, 0);
  const double scale = std::min(static_cast<double>(most_width) / static_cast<double>(width),
                                static_cast<double>(most_height) / static_cast<double>(height));
  const double by = scale >= 1 ? std::floor(scale) : scale;
  Picture made(std::max<int64_t>(1, std::llround(static_cast<double>(width) * by)),
               std::max<int64_t>(1, std::llround(static_cast<double>(height) * by)));
  for (int64_t y = 0; y < made.height; ++y) {
    for (int64_t x = 0; x < made.width; ++x) {
      const auto* const from = rgb.data() + (y * height / made.height * width + x * width / made.width) * 3;
      made.set(x, y, {from[0], from[1], from[2]});
    }
  }
  return made;
}

Result<std::vector<std::byte>> encoded(const Picture& picture) {
  return encode_png(Tensor::from(picture.rgb, {picture.height, picture.width, 3}));
}

Color heat(double value) {
  constexpr double kStops[5][3] = {{4, 4, 30}, {80, 18, 123}, {182, 54, 121}, {251, 136, 97}, {252, 253, 191}};
  const double at = std::clamp(std::isfinite(value) ? value : 0.0, 0.0, 1.0) * 4;
  const auto stop = std::min(static_cast<size_t>(at), size_t{3});
  Color color;
  for (size_t c = 0; c < 3; ++c) {
    const double mixed = kStops[stop][c] + (kStops[stop + 1][c] - kStops[stop][c]) * (at - static_cast<double>(stop));
    color[c] = static_cast<uint8_t>(std::lround(mixed));
  }
  return color;
}

}  // namespace headpond::cli
