// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers. A random number is a function of seed, operator, epoch and the element's key:
// threads, order, a restart or an unrelated operator in the pipeline do not change it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/random_function.h"

namespace headpond {

struct RandomOptions {
  std::string field = "";  ///< The field that it changes; "": the only one.
  /// Name of its random numbers; "": the operator's. Operators of equal names draw different numbers: they are counted.
  std::string name = "";
};

namespace internal {
Step random_map_step(RandomFunction function, const MapOptions& options);
}

/// A map with a generator of random numbers as the function's last argument: `[](float x, Random& random) { return x
/// + random.uniform(); }`, or `(const Element&, Random&)`. Each element has a generator of its own. `options.name`, if
/// not empty, is also the name of the random numbers.
template <class F>
Step random_map(F function, const MapOptions& options = {}) {
  return internal::random_map_step(internal::make_random_function(std::move(function)), options);
}

struct RejectionResampleOptions {
  /// The part of each class in the input; empty: it is estimated, so the result is a stream.
  std::vector<double> initial_dist = {};
  std::string name = "";  ///< Name of the class function, and of the random numbers: see random_map.
  int version = 0;
};

namespace internal {
Step rejection_resample_step(Function class_function, const std::vector<double>& target_dist,
                             const RejectionResampleOptions& options);
}

/// Leaves out elements at random, so that the part of each class becomes that of `target_dist`. `class_function` takes
/// arguments as map's function does, and returns the class of an element: int64_t or int32_t, in [0, classes), or a
/// Result of one. Elements are not changed; tf.data puts the class beside them. With `initial_dist` positions stay, as
/// after a filter. Without it the classes are counted, as if ten elements of each had come before, and a state has the
/// counts. Only the ratios of the numbers matter. Throws for negative or infinite ones, and for a sum of 0.
template <class F>
Step rejection_resample(F class_function, const std::vector<double>& target_dist,
                        const RejectionResampleOptions& options = {}) {
  return internal::rejection_resample_step(internal::make_function(std::move(class_function)), target_dist, options);
}

/// Appends a field of 32 random bits (u32). `field` is its name, "random" if "".
Step random_u32(RandomOptions options = {});
/// Adds `stddev` times a standard normal to each value of an f32 field.
Step add_noise(float stddev, RandomOptions options = {});
/// Reverses the order along `axis` with probability 1/2; a negative axis counts from the last one. Axis 1 flips images
/// of shape [height, width, channels] left to right. For every dtype of fixed size.
Step random_flip(int axis, RandomOptions options = {});

}  // namespace headpond
