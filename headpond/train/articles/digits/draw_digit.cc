// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/draw_digit.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/train/articles/digits/digit_shapes_internal.h"

namespace headpond {
namespace {

using internal::Stroke;
using internal::StrokePoint;

constexpr int kPieces = 5;  // Straight pieces between two points of a stroke.

struct Point {
  float x, y;
};

// The style of one image.
struct Hand {
  explicit Hand(Random& random)
      : turn(around(random, 0, 0.2F)),
        slant(around(random, 0.12F, 0.55F)),
        width(around(random, 16, 7)),
        height(around(random, 18.5F, 6)),
        centre{around(random, 13.5F, 4.5F), around(random, 13.5F, 4.5F)},
        tremble(0.02F + 0.1F * random.uniform()),
        radius(0.55F + 1.15F * random.uniform()),
        pressure(around(random, 0, 0.45F)),
        softness(0.9F + 0.8F * random.uniform()),
        ink(0.7F + 0.3F * random.uniform()) {}

  // Prefers the middle of the range.
  static float around(Random& random, float middle, float reach) {
    const float a = random.uniform(), b = random.uniform(), c = random.uniform();
    return middle + reach * ((a + b + c) * (2.0F / 3) - 1);
  }

  Point place(StrokePoint at, Random& random) const {
    const float x = around(random, at.x - 0.5F, 2 * tremble) * width;
    const float y = around(random, at.y - 0.5F, 2 * tremble) * height;
    const float slanted = x - slant * y;
    // Sine and cosine by the tangent of half the angle: the same bits everywhere.
    const float scale = 1 / (1 + turn * turn), cosine = (1 - turn * turn) * scale, sine = 2 * turn * scale;
    return {centre.x + cosine * slanted - sine * y, centre.y + sine * slanted + cosine * y};
  }

  float turn, slant, width, height;
  Point centre;
  float tremble, radius, pressure, softness, ink;
};

class Canvas {
 public:
  // Draws ink within `radius` of the line from a to b, with a soft edge.
  void line(Point a, Point b, float radius, float softness) {
    const float reach = radius + softness;
    const auto first = [](float edge) { return std::clamp(static_cast<int>(edge), 0, kDigitSide - 1); };
    const int left = first(std::min(a.x, b.x) - reach), right = first(std::max(a.x, b.x) + reach + 1);
    const int top = first(std::min(a.y, b.y) - reach), bottom = first(std::max(a.y, b.y) + reach + 1);
    const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    const float scale = length > 0 ? 1 / length : 0, slope = 0.5F / softness;
    for (int y = top; y <= bottom; ++y) {
      float* row = &pixel(0, y);
      for (int x = left; x <= right; ++x) {
        const float px = static_cast<float>(x) - a.x, py = static_cast<float>(y) - a.y;
        const float along = std::clamp((px * dx + py * dy) * scale, 0.0F, 1.0F);
        const float ex = px - along * dx, ey = py - along * dy;
        const float depth = (reach - std::sqrt(ex * ex + ey * ey)) * slope + 0.25F;
        row[x] = std::max(row[x], std::min(depth, 1.0F));
      }
    }
  }

  // Removes the ink within `radius` of `at`.
  void erase(Point at, float radius) {
    for (int y = 0; y < kDigitSide; ++y) {
      for (int x = 0; x < kDigitSide; ++x) {
        const float dx = static_cast<float>(x) - at.x, dy = static_cast<float>(y) - at.y;
        if (dx * dx + dy * dy < radius * radius) pixel(x, y) *= 0.2F;
      }
    }
  }

  // The finished image: `grain` of noise on ink and, less, on paper.
  void develop(float ink, float grain, float paper, Random& random, std::span<uint8_t> pixels) const {
    uint32_t word = 0;
    for (size_t i = 0; i < pixels.size(); ++i) {
      if (i % 4 == 0) word = random.u32();
      const float noise = static_cast<float>(word >> 8 * (i % 4) & 0xff) * (1.0F / 255) - 0.5F;
      const float value = std::max(ink_[i], 0.0F) * (ink + grain * noise) + paper * std::max(noise, 0.0F);
      pixels[i] = static_cast<uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255.99F);
    }
  }

 private:
  float& pixel(int x, int y) { return ink_[static_cast<size_t>(y) * kDigitSide + static_cast<size_t>(x)]; }

  std::array<float, kDigitSide* kDigitSide> ink_ = {};
};

// The point at `t` of 0..1 between b and c on the smooth curve (Catmull and Rom) through a, b, c, d.
float between(float a, float b, float c, float d, float t) {
  const float ahead = c - a, bend = 2 * a - 5 * b + 4 * c - d, turn = 3 * (b - c) + d - a;
  return b + 0.5F * t * (ahead + t * (bend + t * turn));
}

void draw_stroke(Stroke stroke, const Hand& hand, Random& random, Canvas& canvas) {
  std::array<Point, 16> points;
  for (size_t i = 0; i < stroke.size(); ++i) points.at(i) = hand.place(stroke[i], random);
  const float step = 1.0F / static_cast<float>((stroke.size() - 1) * kPieces);
  float progress = 0;
  for (size_t i = 0; i + 1 < stroke.size(); ++i) {
    const Point b = points[i], c = points[i + 1];
    const Point a = i == 0 || stroke[i].corner ? b : points[i - 1];
    const Point d = i + 2 == stroke.size() || stroke[i + 1].corner ? c : points[i + 2];
    Point from = b;
    for (int piece = 1; piece <= kPieces; ++piece, progress += step) {
      const float t = static_cast<float>(piece) / kPieces;
      const Point to = {between(a.x, b.x, c.x, d.x, t), between(a.y, b.y, c.y, d.y, t)};
      const float radius = hand.radius * (1 + hand.pressure * (progress - 0.5F));
      canvas.line(from, to, radius, hand.softness);
      from = to;
    }
  }
}

// Sometimes adds a hair or a spot without ink.
void add_dirt(const Hand& hand, Random& random, Canvas& canvas) {
  const auto anywhere = [&] { return static_cast<float>(kDigitSide) * random.uniform(); };
  const bool hair = random.below(4) == 0, spot = random.below(4) == 0;
  if (hair) {
    const Point from = {anywhere(), anywhere()};
    const Point to = {Hand::around(random, from.x, 7), Hand::around(random, from.y, 7)};
    canvas.line(from, to, 0.3F + 0.4F * random.uniform(), 0.8F);
  }
  if (spot) {
    const Point at = {Hand::around(random, hand.centre.x, 8), Hand::around(random, hand.centre.y, 10)};
    canvas.erase(at, 1.2F + 1.6F * random.uniform());
  }
}

}  // namespace

Digit draw_digit(uint64_t index) {
  static const RandomKey key = random_key(0, "digits", 0, 0);
  Random random(key, index);
  Digit digit;
  digit.label = static_cast<uint8_t>(random.below(10));
  const auto shapes = internal::digit_shapes(digit.label);
  const auto shape = shapes[random.below(shapes.size())];
  const Hand hand(random);
  Canvas canvas;
  for (const Stroke stroke : shape) draw_stroke(stroke, hand, random, canvas);
  add_dirt(hand, random, canvas);
  const float grain = 0.5F * random.uniform();
  const float paper = random.below(3) == 0 ? 0.5F * random.uniform() : 0.0F;
  canvas.develop(hand.ink, grain, paper, random, digit.pixels);
  return digit;
}

}  // namespace headpond
