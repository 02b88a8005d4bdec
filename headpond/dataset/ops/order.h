// SPDX-License-Identifier: Apache-2.0
// Operators that change the order, or keep elements in memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "headpond/dataset/dataset.h"

namespace headpond {

namespace internal {
Step shuffle_within(int64_t window);
}

struct ShuffleOptions {
  /// tf.data's buffer_size. Below 0: the whole epoch.
  int64_t window = -1;
  bool reshuffle_each_iteration = true;  ///< false: the order of epoch 0 in every epoch.
  std::string name = "shuffle";          ///< Of its random numbers. Equal names in the input count too.
};

/// Shuffles, with another order in each epoch. The whole epoch, which is the default: every order is as likely as any
/// other. A permutation computes each position (base/permutation.h), so this needs no memory and no time to fill a
/// buffer. Throws over a stream, which has no positions: give a window.
///
/// Within a window: an element moves by less than 2 x window positions, by about half a window on average. If the input
/// has positions, two keyed permutations compute them, of blocks of `window` positions and of the same blocks half a
/// window further: at once and without memory. A stream is sorted by i + 2 x window x u(i). This holds at most 2 x
/// window elements, half of that on average, and a restore reads the held elements again.
Step shuffle(ShuffleOptions options = {});
/// The same within a window. A template, so that shuffle({}) means the options.
template <std::integral Window>
  requires(!std::same_as<Window, bool>)
Step shuffle(Window window) {
  return internal::shuffle_within(std::in_range<int64_t>(window) ? static_cast<int64_t>(window) : kEndless);
}

/// Keeps each element of its input in memory from the first time that it is asked for. The input always has epoch 0, so
/// that a cached element equals a new one. The elements of a stream are kept in their order. A Loader keeps no more
/// elements once half of its memory budget is in use; the others are made again in each epoch.
Step cache();

}  // namespace headpond
