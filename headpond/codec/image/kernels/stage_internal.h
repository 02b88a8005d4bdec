// SPDX-License-Identifier: Apache-2.0
// What kernels of images are made of: stages, in the order in which one pass over the image does them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/image_options.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/normalize/normalize_options.h"

namespace headpond::image_internal {

struct DecodeStage {
  enum class Format : uint8_t { jpeg, png, any };

  JpegOptions options;  ///< For a JPEG.
  Format format = Format::jpeg;
  ImageOptions image = {};  ///< For other formats.

  int channels() const { return format == Format::jpeg ? options.channels : image.channels; }
  DType dtype() const { return format == Format::jpeg ? DType::u8 : image.dtype; }
};

/// A part of the image, which may reach outside: there it is padded.
struct WindowStage {
  /// The part of an image of this size.
  std::function<Result<ImageWindow>(int64_t height, int64_t width, Random& random)> choose;
  bool may_pad = false;
  PadMode mode = PadMode::constant;
  std::vector<double> fill = {0};
  double mask_fill = 0;
  bool drops = true;  ///< Boxes below min_area.
  double min_area = 1;
  /// The sides of the result: these, or those of the image and this much more.
  int64_t height = kUnknown, width = kUnknown;
  bool grows = false;

  bool is_zero() const { return mode == PadMode::constant && fill == std::vector<double>{0} && mask_fill == 0; }
};

struct ResizeStage {
  ImageSize size;
  int64_t max_size = 0;
  ResizeOptions options;
};

struct FlipStage {
  bool is_vertical = false;
  double p = 0.5;
};

struct NormalizeStage {
  NormalizeOptions options;
};

struct Stage {
  std::variant<DecodeStage, WindowStage, ResizeStage, FlipStage, NormalizeStage> what;
  std::string name;    ///< For explain: "resize".
  size_t kernel = 0;   ///< The number of its kernel in the chain, for the random numbers.
  bool draws = false;  ///< Only then it has random numbers.

  template <class T>
  const T* as() const {
    return std::get_if<T>(&what);
  }
};
using Stages = std::vector<Stage>;

/// The sides of an image of this size after the resize. REQUIRES: height, width > 0.
std::pair<int64_t, int64_t> resized_sides(const ResizeStage& stage, int64_t height, int64_t width);

}  // namespace headpond::image_internal
