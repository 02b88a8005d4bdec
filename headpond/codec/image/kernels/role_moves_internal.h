// SPDX-License-Identifier: Apache-2.0
// Masks, boxes, labels and points, moved as their image.
#pragma once

#include "headpond/codec/image/kernels/image_pass_internal.h"

namespace headpond::image_internal {

/// Makes the fields after the first. InvalidArgument iff a mask doesn't have the image's size, a field's dtype or shape
/// isn't that of its role, or check_corners() (move_positions.h) refuses the boxes.
Result<void> move_roles(const Geometry& geometry, KernelCall& call, ImageScratch& scratch);

}  // namespace headpond::image_internal
