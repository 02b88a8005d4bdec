// SPDX-License-Identifier: Apache-2.0
// The samples by Headpond's operators: a dataset that a Loader runs on all cores, ahead of the training loop. Kernels
// decode the images and measure distances.
#pragma once

#include <vector>

#include "examples/preprocess_once/nuclei.h"

namespace preprocess_once {

/// One sample a picture, with the same bytes as prepare_straightforwardly().
hp::Dataset prepared(const std::vector<Picture>& pictures, uint64_t seed);

/// The distance channels alone, in a time that does not depend on the number of clicks (distance_map.h; Felzenszwalb &
/// Huttenlocher, "Distance Transforms of Sampled Functions", 2012). REQUIRES: as measure_distances().
hp::Result<void> write_distances(const Clicks& clicks, hp::Tensor& input);

}  // namespace preprocess_once
