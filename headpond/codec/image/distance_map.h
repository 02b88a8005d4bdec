// SPDX-License-Identifier: Apache-2.0
// The distance of each pixel to the nearest of a set of points: clicks as an image channel that a network can read. The
// row step is the lower envelope of parabolas of Felzenszwalb & Huttenlocher, "Distance Transforms of Sampled
// Functions", Theory of Computing 8 (2012); the column step is direct, because points are few or sorted. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// The position of a pixel; it may lie outside the image, as after a crop.
struct ImagePoint {
  int32_t y = 0;
  int32_t x = 0;
  friend bool operator==(const ImagePoint&, const ImagePoint&) = default;
};

/// A channel of an image in memory: the image, as it is stored in a row of a batch, and the channel's index.
struct ImageChannel {
  std::span<std::byte> image;  ///< height x width x channels values; not owned.
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  int64_t index = 0;       ///< 0 <= index < channels
  bool is_planar = false;  ///< [channels, height, width]; else [height, width, channels].
  DType dtype = DType::f32;
};

/// The largest limit. Up to it every sum of two squares is exact, or rounded once.
inline constexpr float kMaxDistanceLimit = 4096;
/// The smallest limit. Distances are 0 or at least 1, so a lower limit says no more; 255 / limit stays finite.
inline constexpr float kMinDistanceLimit = 0.001F;

/// Writes min(distance in pixels, limit) for every pixel into one channel; other channels stay unchanged. Without
/// points, the limit everywhere. Time: O(height * (width + c) + n log n) for n points, where c is the number of columns
/// outside the image that have points within the limit of it: 0 if all points are inside, at most min(n, 2 * limit +
/// 2).
///
/// f32: the distance d itself, as input of a network. Its bits are those of float arithmetic, rounded to nearest after
/// each operation: the minimum over all points of sqrt(dx * dx + dy * dy), then the minimum of that and the limit. u8:
/// the integer part of d * (255 / limit) + 0.5, in the same arithmetic, so that 0 is a point and 255 the limit or
/// beyond: a channel that is stored and scaled with the colours of an image.
///
/// InvalidArgument iff the limit is not in [0.001, 4096], the dtype is another, a size is negative, the index is not a
/// channel, or the image does not have exactly the bytes for its size, aligned for the dtype.
Result<void> write_distance_map(std::span<const ImagePoint> points, float limit, const ImageChannel& to);

/// The same as a new tensor, f32 [height, width]. Arguments are checked before memory is allocated.
Result<Tensor> distance_map(std::span<const ImagePoint> points, int64_t height, int64_t width, float limit);

}  // namespace headpond
