// SPDX-License-Identifier: Apache-2.0
// Augmentation policies, for map: torchvision v2's names, tables, arguments and defaults. Thread-safe.
//
// The image is u8, or f32 with values in [0, 1], [height, width, 1 or 3]; it keeps shape and dtype. Operations that
// move pixels also move masks, boxes, labels and points, as geometry_kernels.h says; those that change colours leave
// them alone. Sources: Cubuk et al., "AutoAugment" (CVPR 2019) and "RandAugment" (NeurIPS 2020); Mueller and Hutter,
// "TrivialAugment" (ICCV 2021); the strengths are torchvision's.
//
// Throw Exception(InvalidArgument) iff an option is out of range; so does building a map over fields that a policy
// can't take.
#pragma once

#include <string>
#include <vector>

#include "headpond/codec/image/geometry/warp.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

struct RandAugmentOptions {
  int num_ops = 2;              ///< 0 to 16.
  int magnitude = 9;            ///< 0 to num_magnitude_bins - 1.
  int num_magnitude_bins = 31;  ///< 2 to 1,000.
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill = {0};
  double mask_fill = 0;
  double min_area = 1;
};
/// num_ops operations of one magnitude. Draws two words for each: which one of 14, and the sign.
KernelRef rand_augment(const RandAugmentOptions& options = {});

struct PolicyOptions {
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill = {0};
  double mask_fill = 0;
  double min_area = 1;
};
/// One operation of any magnitude; num_magnitude_bins is 2 to 1,000. Draws three words: which one of 14, the magnitude,
/// the sign.
KernelRef trivial_augment_wide(int num_magnitude_bins = 31, const PolicyOptions& options = {});

/// One of 25 pairs of operations that were learned for a data set, each done with its own probability. `policy`:
/// "imagenet", "cifar10" or "svhn". Draws five words: which pair; for each operation whether it is done, and the sign.
KernelRef auto_augment(const std::string& policy = "imagenet", const PolicyOptions& options = {});

}  // namespace headpond
