// SPDX-License-Identifier: Apache-2.0
// The samples by Headpond's operators: a dataset that a Loader runs on all cores, ahead of the training loop. Kernels
// decode the images and measure distances.
#pragma once

#include <vector>

#include "examples/preprocess_once/nuclei.h"

namespace preprocess_once {

/// What samples ask of a network.
struct Task {
  bool one = false;     ///< The target is one nucleus of the picture, drawn from the seed; else all of them.
  int64_t samples = 1;  ///< Of each picture, one after the other; with `one` each of a nucleus drawn anew.
  bool others = false;  ///< A control: the clicks are those of another picture.
};

/// By default one sample a picture, with the same bytes as prepare_straightforwardly().
hp::Dataset prepared(const std::vector<Picture>& pictures, uint64_t seed, const Task& task = {});

/// The distance channels alone, in a time that does not depend on the number of clicks (distance_map.h; Felzenszwalb &
/// Huttenlocher, "Distance Transforms of Sampled Functions", 2012). REQUIRES: as measure_distances().
hp::Result<void> write_distances(const Clicks& clicks, hp::Tensor& input);

}  // namespace preprocess_once
