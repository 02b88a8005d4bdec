// SPDX-License-Identifier: Apache-2.0
// Bilinear pixels of bytes whose four neighbours are all in the image: what is worth vector code in warp().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"

namespace headpond::warp_internal {

/// Borrowed pixels, contiguous, at least 2 x 2 of 1 to 4 channels. All sizes in bytes are below 2^31.
struct BytePixels {
  const uint8_t* data;
  int32_t row_bytes;
  int32_t channels;
};

/// Coordinates in an image, with 8 fraction bits. The pixel of each is the first of four that are mixed: x and y are at
/// least 0 and below the last column and row.
struct Coordinates {
  static constexpr size_t kSize = 64;
  alignas(64) std::array<int32_t, kSize> x;
  alignas(64) std::array<int32_t, kSize> y;
  size_t count;
};

/// Writes `count` pixels; equal bytes on each instruction set.
using BilinearBytes = void (*)(const BytePixels& pixels, const Coordinates& coordinates, uint8_t* to);

/// The function of the best target of this machine.
BilinearBytes bilinear_bytes();
/// Its twin without vectors; `begin`: the number of the first one that is written.
void bilinear_bytes_scalar(const BytePixels& pixels, const Coordinates& coordinates, size_t begin, uint8_t* to);
/// All that this machine can run, for tests.
const std::vector<VectorTarget<BilinearBytes>>& bilinear_bytes_targets();

}  // namespace headpond::warp_internal
