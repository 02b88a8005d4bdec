// SPDX-License-Identifier: Apache-2.0
// Operators that change the order, or keep what was made.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct ShuffleOptions {
  /// tf.data's buffer_size. Below 0: the whole epoch.
  int64_t window = -1;
  bool reshuffle_each_iteration = true;  ///< false: the order of epoch 0 in every epoch.
  std::string name = "shuffle";          ///< Draws follow from it; equal names below count.
};

/// Another order in each epoch. Whole: each order as likely as any other, by a permutation that is computed place by
/// place (base/permutation.h): no memory, no time to fill. Throws over a stream, which has no places: give a window.
///
/// Within a window: an element moves by less than 2 x window places, by about half a window on average. Over positions
/// by two keyed permutations, of blocks of `window` places and of the same blocks half a window further, so at once and
/// without memory; over a stream by sorting by i + 2 x window x u(i), which holds at most 2 x window elements, half of
/// that on average, and reads the held ones again when a run is restored.
Step shuffle(ShuffleOptions options = {});
Step shuffle(int64_t window);

/// Keeps what its input gives, in memory, from the first time that an element is asked for. What is below always has
/// epoch 0, so what is kept is what would be made. Over a stream the elements are kept as they come. In a Loader no
/// more is kept once half of its memory is in use; the rest is made in each epoch.
Step cache();

}  // namespace headpond
