// SPDX-License-Identifier: Apache-2.0
// Kernels that keep a part of an image or pad it: crop, center_crop, random_crop, random_resized_crop, pad. Names,
// defaults and rounding are torchvision's (transforms v2).
//
// The image is u8 or f32 [height, width, channels], 1 to 4 channels. Masks have its size, and move with it; padding of
// a mask is mask_fill, or what the mode says. Boxes are clipped to the result; a crop drops a box, with its row of
// labels, whose clipped area is below `min_area` square pixels. Points may lie outside afterwards.
//
// Factories throw Exception(InvalidArgument) iff an option is out of range. InvalidArgument of a sample: a box whose
// right edge is left of its left one, or whose bottom edge is above its top one (check_corners() of move_positions.h).
// A kernel that follows decode_jpeg() in one map decodes only the part that it keeps. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/codec/image/kernels/image_size.h"
#include "headpond/codec/image/resize/resize.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// Where the pixels outside of an image come from. Of a row a b c: edge a a|a b c|c c; reflect c b|a b c|b a; symmetric
/// b a|a b c|c b. reflect of one pixel repeats it.
enum class PadMode : uint8_t { constant, reflect, edge, symmetric };

struct CropOptions {
  double min_area = 1;   ///< A smaller box is dropped.
  double mask_fill = 0;  ///< Outside of a mask: a number of its dtype, as 255 for classes that no loss counts.
};
/// Rows from `y` and columns from `x` on; outside of the image are zeros. The result has the size.
KernelRef crop(int64_t y, int64_t x, ImageSize size, const CropOptions& options = {});
/// The middle, from round((height - size) / 2), halves to even; a smaller image is padded with zeros.
KernelRef center_crop(ImageSize size, const CropOptions& options = {});

struct PadOptions {
  /// For mode constant: a value, or one for each channel. uint8: from 0 to 255, rounded.
  std::vector<double> fill = {0};
  PadMode mode = PadMode::constant;
  double mask_fill = 0;  ///< The same of masks: as of crop().
};
/// `padding`: pixels at each side; or {left and right, top and bottom}; or {left, top, right, bottom}.
KernelRef pad(std::vector<int64_t> padding, const PadOptions& options = {});

struct RandomCropOptions {
  std::vector<int64_t> padding = {};  ///< Applied before the crop, as by pad().
  bool pad_if_needed = false;         ///< An axis that is too short is padded at both ends by what is missing.
  std::vector<double> fill = {0};     ///< As of pad(), and so are mode and mask_fill.
  PadMode mode = PadMode::constant;
  double mask_fill = 0;
  double min_area = 1;
};
/// A position for each sample. Draws two words, for the row and the column: word * positions / 2^32, rounded down.
/// InvalidArgument of a sample: the image, padded, is smaller than the size.
KernelRef random_crop(ImageSize size, const RandomCropOptions& options = {});

struct RandomResizedCropOptions {
  std::vector<double> scale = {0.08, 1};         ///< The least and the largest share of the image's area.
  std::vector<double> ratio = {3. / 4, 4. / 3};  ///< The least and the largest width / height of the part.
  ResizeFilter filter = ResizeFilter::bilinear;
  bool antialias = true;
  double min_area = 1;  ///< In pixels of the image before the resize.
};
/// A part of random area and shape, resized to the size; the resize sees no pixel outside the part. Draws at most ten
/// times four words: area, logarithm of the ratio, row, column, each word / 2^32 of its range. The first that fits is
/// taken; else the largest middle part whose ratio is in the range.
KernelRef random_resized_crop(ImageSize size, const RandomResizedCropOptions& options = {});

}  // namespace headpond
