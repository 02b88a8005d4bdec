// SPDX-License-Identifier: Apache-2.0
// Normalizes rows of pixels to floats, directly in the result.
#pragma once

#include <cstdint>

#include "headpond/codec/image/normalize/normalize_options.h"
#include "headpond/codec/image/normalize/normalize_rows_internal.h"
#include "headpond/tensor/shape.h"

namespace headpond::image_internal {

/// Immutable, thread-safe.
class NormalizePass {
 public:
  explicit NormalizePass(const NormalizeOptions& options);

  const NormalizeOptions& options() const { return options_; }
  Shape shape(int64_t height, int64_t width, int channels) const;
  /// True iff images of so many channels can be normalized.
  bool takes(int channels) const;
  struct Size {
    int64_t height, width;
    int channels;
  };
  /// Row `y` of a result of this size that begins at `to`. REQUIRES: takes(size.channels).
  void row(const uint8_t* from, int64_t y, const Size& size, std::byte* to) const;
  void row(const float* from, int64_t y, const Size& size, std::byte* to) const;
  /// `count` whole images of u8 or f32, one after the other. REQUIRES: takes(size.channels).
  void images(const std::byte* from, DType dtype, int64_t count, const Size& size, std::byte* to) const;

 private:
  // Normalizes as many pixels as `row` says, which may be those of all rows.
  void run(const std::byte* from, DType dtype, const NormalizeRow& row, std::byte* to) const;
  // Moves `to` to the row.
  NormalizeRow row_of(int64_t y, const Size& size, std::byte*& to) const;

  const NormalizeOptions options_;
  const NormalizeRows& rows_ = normalize_rows();
  NormalizeLines of_u8_, of_f32_;
};

}  // namespace headpond::image_internal
