// SPDX-License-Identifier: Apache-2.0
// The size that a kernel gives to an image.
#pragma once

#include <cstdint>
#include <string>

namespace headpond {

/// {height, width}, or one number: a square; for resize() the shorter side.
struct ImageSize {
  ImageSize(int64_t side) : height(side) {}  // NOLINT(google-explicit-constructor): as resize(256).
  ImageSize(int64_t rows, int64_t columns) : height(rows), width(columns) {}

  int64_t height;
  int64_t width = 0;  ///< 0: one number was given.

  bool is_one_number() const { return width == 0; }
  /// "[224,224]"; "256".
  std::string to_string() const;
};

}  // namespace headpond
