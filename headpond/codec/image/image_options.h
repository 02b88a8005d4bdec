// SPDX-License-Identifier: Apache-2.0
// How images are decoded: those that are not JPEGs, and those of which the format is not known before. For JPEGs alone:
// jpeg.h.
#pragma once

#include <cstdint>

#include "headpond/tensor/dtype.h"

namespace headpond {

struct ImageOptions {
  /// 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. 0: as in the file, where a palette counts as 3, or 4 if it has
  /// transparency. RGB to grey is (19595 R + 38470 G + 7471 B + 32768) / 65536, rounded down (ITU-R BT.601); of a JPEG
  /// grey is its luma. Grey to RGB is the same value three times. A requested alpha that the file does not have comes
  /// from its transparent colour, else is opaque; an alpha that is not requested is dropped, not blended.
  int channels = 0;
  /// u8 or u16. 16 bits become 8 by their upper byte, 8 become 16 by v * 257; 1, 2 and 4 bits of grey are scaled to the
  /// full range.
  DType dtype = DType::u8;
  bool apply_exif_orientation = true;       ///< For JPEG and WebP; other images are decoded as they are stored.
  int64_t max_pixels = 64'000'000;          ///< More, by the file's head: refused before memory is taken.
  int64_t max_memory = int64_t{512} << 20;  ///< Bytes of pixels, and of what their decoder keeps of the image.
};

}  // namespace headpond
