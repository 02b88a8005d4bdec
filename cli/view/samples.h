// SPDX-License-Identifier: Apache-2.0
// The samples of a pipeline that `headpond view` shows, as tiles.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/view/tile.h"
#include "headpond/dataset/dataset.h"

namespace headpond::cli {

struct ViewOptions {
  uint64_t seed = 0;
  int64_t batches = 1;
  /// An operator, or the name of a step; "": the last one before the batches, or the last one with kernels if later
  /// ones leave out or rename a field of its kernels.
  std::string step = "";
  Node::Ref named = {};  ///< What the step of that name gives; null: `step` is an operator.
  bool before = false;   ///< Also the decoded image, with the outline of what the kernels keep; not of sounds.
  int64_t draws = 0;     ///< Above 0: the first sample alone, in so many epochs.
  std::stop_token stop = {};
};

/// At most 256. Throws Exception(InvalidArgument) iff there is no such step, or `before` or `draws` are asked of a
/// pipeline that has no kernels there. An element that fails is a tile with an error.
Result<std::vector<Tile>> view_tiles(const Dataset& dataset, const ViewOptions& options);

}  // namespace headpond::cli
