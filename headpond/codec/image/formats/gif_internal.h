// SPDX-License-Identifier: Apache-2.0
// A GIF file up to the data of its first frame, read before giflib does.
#pragma once

#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {

struct GifLayout {
  int64_t width = 0, height = 0;  ///< Size of the canvas, which grows to hold the frame.
  int64_t x = 0, y = 0, frame_width = 0, frame_height = 0;
  bool is_interlaced = false;
  int transparent = -1;  ///< The index of the transparent colour; -1: there is none.
  uint64_t palette = 0;  ///< The offset of the palette of the frame; 0: it has none, and indices are grey.
  uint64_t entries = 0;  ///< Entries of the palette.
};

Result<GifLayout> gif_layout(const Source& source);

}  // namespace headpond::image_internal
