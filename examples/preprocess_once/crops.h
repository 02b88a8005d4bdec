// SPDX-License-Identifier: Apache-2.0
// What a network takes of samples: crops for its training, whole pictures for its test; as numbers, channels first.
#pragma once

#include <cstdint>

#include "examples/preprocess_once/sample.h"

namespace preprocess_once {

struct CropOptions {
  int64_t size = 128;     ///< Height and width; pictures must not be smaller.
  bool on_target = true;  ///< Each crop has a pixel of the target, if the picture has one; else it is anywhere.
  bool clicks = true;     ///< false: the channels of the clicks are 0.
  /// Other clicks in the picture of each crop, so that most crops have few: a network that meets the same clicks in
  /// each epoch learns by heart what is around them.
  bool new_clicks = false;
};

/// Samples as f32 "input" [kChannels, size, size] and "target" [size, size]: at another place, flipped or not, in each
/// epoch. Colours are between 0 and 1; the channels of the clicks are 1 at a click, 0 from 64 pixels on, and straight
/// between. InvalidArgument for smaller pictures.
hp::Step random_crops(const CropOptions& options = {});

/// The same of a whole picture: [kChannels, height, width] and [height, width].
hp::Step whole_pictures(bool clicks = true);

}  // namespace preprocess_once
