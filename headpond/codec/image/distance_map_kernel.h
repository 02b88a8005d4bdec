// SPDX-License-Identifier: Apache-2.0
// distance_map as a kernel, for map: map({.image = "image", .points = "clicks"}, distance_map({.limit = 100})).
#pragma once

#include "headpond/codec/image/distance_map.h"
#include "headpond/codec/image/image_layout.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

struct DistanceMapOptions {
  float limit = 255;  ///< In pixels; kMinDistanceLimit to kMaxDistanceLimit.
  int groups = 1;     ///< 1 to 16. The points are so many groups of one size, one after the other: clicks of two kinds.
  ImageLayout layout = ImageLayout::hwc;
};

/// Adds a channel for each group of points after those of the image: how far each pixel is from the nearest point of
/// the group, as write_distance_map() says, in the image's dtype, u8 or f32. Points are where the kernels before it
/// moved them; a point lies in the pixel [floor(y), floor(x)], which may be outside of the image. One that holds a
/// value that is no number, or is 2^30 pixels away or more, is left out; a group without points is at the limit
/// everywhere. Other fields stay as they are.
///
/// InvalidArgument iff the number of points is no multiple of the groups. Throws Exception(InvalidArgument) iff an
/// option is out of range or, while the pipeline is built, no field has the role points. Thread-safe.
KernelRef distance_map(const DistanceMapOptions& options = {});

}  // namespace headpond
