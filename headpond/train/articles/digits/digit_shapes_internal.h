// SPDX-License-Identifier: Apache-2.0
// Handwritten shapes of the ten digits: strokes through points in a box of 1 x 1, x to the right, y downwards.
#pragma once

#include <span>

namespace headpond::internal {

struct StrokePoint {
  float x, y;
  bool corner = false;  ///< The stroke has a corner here; elsewhere it is smooth.
};

using Stroke = std::span<const StrokePoint>;
using DigitShape = std::span<const Stroke>;

/// The ways to write `digit`. REQUIRES: 0 <= digit <= 9.
std::span<const DigitShape> digit_shapes(int digit);

}  // namespace headpond::internal
