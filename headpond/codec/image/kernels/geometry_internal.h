// SPDX-License-Identifier: Apache-2.0
// Where the pixels of a result come from: the stages of one sample, with its size and its random numbers, as one crop,
// at most one resize, one crop and two flips.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/codec/image/kernels/stage_internal.h"
#include "headpond/codec/image/resize/resize_rows_internal.h"

namespace headpond::image_internal {

/// One stage, as boxes and points need it.
struct Move {
  enum class Kind : uint8_t { window, resize, flip_rows, flip_columns };
  Kind kind = Kind::window;
  ImageWindow window;             // For kind window.
  int64_t height = 0, width = 0;  // Size of the image before the stage.
  int64_t new_height = 0, new_width = 0;
  bool drops = false;
  double min_area = 0;
};

/// All rectangles may reach outside of the one that has pixels; then the rest is padding.
struct Geometry {
  int64_t height = 0, width = 0;         // Size of the image.
  ImageWindow valid, window;             // In the image: what has pixels, and what is kept.
  const WindowStage* padding = nullptr;  // How the rest of `window` is made.
  const ResizeStage* resize = nullptr;   // Resizes the window; null: it keeps its size.
  int64_t resized_height = 0, resized_width = 0;
  ImageWindow part_valid, part;  // The same in the resized image, if there is a resize.
  bool flips_rows = false, flips_columns = false;
  std::vector<Move> moves;

  int64_t out_height() const { return resize == nullptr ? window.height : part.height; }
  int64_t out_width() const { return resize == nullptr ? window.width : part.width; }
  PadMode mode() const { return padding == nullptr ? PadMode::constant : padding->mode; }
};

ImageWindow intersection(const ImageWindow& a, const ImageWindow& b);
bool contains(const ImageWindow& outer, const ImageWindow& inner);

/// Sets `geometry`. InvalidArgument iff the image has no pixels, or a stage cannot take its size. REQUIRES: the order
/// of the stages is one that join_order() allows.
Result<void> plan_geometry(const Stages& stages, int64_t height, int64_t width, const KernelCall& call,
                           Geometry& geometry);

/// Why `next` can't be part of one pass after `stages`; "": it can.
std::string why_not_joined(const Stages& stages, const Stages& next);

/// The pixel of [begin, begin + size) that stands at `i`; -1: the fill. REQUIRES: size > 0.
int64_t padded_index(int64_t i, int64_t begin, int64_t size, PadMode mode);

/// For each row, or column, of the result the nearest one of the image; -1: padding.
void map_axis(const Geometry& geometry, bool is_rows, resize_internal::TapsCache& taps, std::vector<int64_t>& map);

}  // namespace headpond::image_internal
