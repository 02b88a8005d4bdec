// SPDX-License-Identifier: Apache-2.0
// A rectangle of an image.
#pragma once

#include <cstdint>

namespace headpond {

/// In pixels. Where an image is padded it may reach outside.
struct ImageWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const ImageWindow&, const ImageWindow&) = default;
};

}  // namespace headpond
