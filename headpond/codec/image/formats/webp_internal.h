// SPDX-License-Identifier: Apache-2.0
// The chunks of a WebP file, found before libwebp reads it.
#pragma once

#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {

struct WebpLayout {
  int64_t width = 0, height = 0;  ///< Size of the canvas.
  bool has_alpha = false;
  bool is_animated = false;
  int orientation = 1;
  uint64_t end = 0;  ///< End of the chunks, as the file says.
  /// The first frame: its chunks, place and size; if the image does not move, the whole file and the canvas.
  uint64_t frame_begin = 0, frame_end = 0;
  int64_t x = 0, y = 0, frame_width = 0, frame_height = 0;
};

/// The canvas and the alpha, for which 30 bytes are enough; the frame only of a whole file.
Result<WebpLayout> webp_layout(const Source& source);

}  // namespace headpond::image_internal
