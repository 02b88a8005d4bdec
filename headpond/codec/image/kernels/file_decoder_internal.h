// SPDX-License-Identifier: Apache-2.0
// The image in a file, of which parts are decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/codec/image/jpeg_internal.h"
#include "headpond/codec/image/kernels/stage_internal.h"
#include "headpond/codec/image/png_internal.h"
#include "headpond/tensor/kernel.h"
#include "headpond/tensor/tensor.h"

namespace headpond::image_internal {

/// Keeps what a worker needs from one file to the next. One thread at a time.
class FileDecoder {
 public:
  /// Finds the image in `file`, which outlives decode(). Errors as those of the kernel that the stage is of. `index`:
  /// of a JPEG, or empty; one of another file is a defect.
  Result<void> open(std::span<const std::byte> file, const DecodeStage& stage, std::span<const std::byte> index = {});

  /// The height of the opened image when it is decoded.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  int channels() const { return channels_; }

  /// The pixels of `part`, which lies inside the image, or of one that is decoded at 1 / `ratio` of its size, if the
  /// stage is of decode_jpeg(). Of a JPEG or a PNG no more is decoded than they need; of other files the whole image.
  /// Returns the file's defects that were no errors.
  Result<KernelDefects> decode(const ImageWindow& part, int ratio, std::byte* to);

  /// A call of decode().
  struct Part {
    FileDecoder& file;
    ImageWindow part;
    int ratio;
    std::byte* to;
  };
  /// Decodes both at once, if that takes less time than one after the other. True for one that has all its pixels then,
  /// and whose file has no defect. REQUIRES: two files.
  static std::array<bool, 2> try_two(const Part& first, const Part& second);

 private:
  enum class Way : uint8_t { jpeg, png, whole };

  Result<void> open_jpeg();
  Result<void> open_png();
  Result<void> open_any();
  Result<KernelDefects> decode_whole(const ImageWindow& part, std::byte* to) const;

  jpeg_internal::Decoder jpeg_;
  JpegOptions jpeg_options_;
  png_internal::Layout png_;
  ImageOptions options_;
  std::span<const std::byte> file_, index_;
  Way way_ = Way::whole;
  int64_t height_ = 0, width_ = 0;
  int channels_ = 0;
};

}  // namespace headpond::image_internal
