// SPDX-License-Identifier: Apache-2.0
// The loops of warp() over pixels. They read no pixel outside the image and overflow for no map that warp() takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "headpond/codec/image/geometry/image_map.h"

namespace headpond::warp_internal {

inline constexpr size_t kMaxPixelBytes = 32;  ///< 4 channels of 8 bytes.
inline constexpr double kMaxStep = 1U << 30;  ///< Pixels of the image for one of the result, of affine maps.

/// Borrowed pixels, contiguous, and the pixel for what is outside.
struct Picture {
  const std::byte* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  size_t pixel_bytes = 1;
  std::array<std::byte, kMaxPixelBytes> fill = {};
};

/// Pixels of any kind.
void write_nearest(const Picture& picture, const ImageMap& map, std::byte* to);
/// Channels of T: uint8_t or float.
template <class T>
void write_bilinear(const Picture& picture, const ImageMap& map, std::byte* to);
extern template void write_bilinear<uint8_t>(const Picture&, const ImageMap&, std::byte*);
extern template void write_bilinear<float>(const Picture&, const ImageMap&, std::byte*);

}  // namespace headpond::warp_internal
