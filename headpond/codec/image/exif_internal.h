// SPDX-License-Identifier: Apache-2.0
// The orientation that cameras write beside an image, and images turned by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond::image_internal {

/// The orientation in an EXIF block, with or without the mark that JPEGs put before it: 1 to 8; 1 if there is none, or
/// anything about the block is wrong.
int exif_orientation(std::span<const std::byte> block);
/// Whether the sides of an image change places.
inline bool swaps_sides(int orientation) { return orientation >= 5; }
/// `from` has height x width pixels, `to` room for as many. Both are not the same.
void turn_image(const std::byte* from, int64_t height, int64_t width, size_t pixel_bytes, int orientation,
                std::byte* to);

}  // namespace headpond::image_internal
