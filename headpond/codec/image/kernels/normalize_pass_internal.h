// SPDX-License-Identifier: Apache-2.0
// Rows of pixels to normalized floats in their place of the result.
#pragma once

#include <array>
#include <cstdint>

#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/normalize_lanes_internal.h"

namespace headpond::image_internal {

/// Immutable, thread-safe.
class NormalizePass {
 public:
  explicit NormalizePass(const NormalizeOptions& options);

  const NormalizeOptions& options() const { return options_; }
  Shape shape(int64_t height, int64_t width, int channels) const;
  /// True iff images of so many channels can be normalized.
  bool takes(int channels) const;
  /// Row `y` of a result of this size that begins at `to`. REQUIRES: takes(channels).
  void row(const uint8_t* from, int64_t y, int64_t height, int64_t width, int channels, std::byte* to) const;
  void row(const float* from, int64_t y, int64_t height, int64_t width, int channels, std::byte* to) const;

 private:
  template <class T>
  void row_as(const T* from, int64_t y, int64_t height, int64_t width, int channels, std::byte* to) const;

  const NormalizeOptions options_;
  std::array<Line, 4> of_u8_, of_f32_;
};

}  // namespace headpond::image_internal
