// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers. A random number is a function of seed, operator, epoch and the element's key:
// threads, order, a restart or an unrelated operator in the pipeline do not change it.
#pragma once

#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct RandomOptions {
  std::string field = "";  ///< The field that it changes; "": the only one.
  /// Of its random numbers; "": the operator's name. Operators of equal names draw different numbers: they are counted.
  std::string name = "";
};

/// Appends a field of 32 random bits (u32). `field` is its name, "random" if "".
Step random_u32(RandomOptions options = {});
/// Adds `stddev` times a standard normal to each value of an f32 field.
Step add_noise(float stddev, RandomOptions options = {});
/// Reverses the order along `axis` with probability 1/2; a negative axis counts from the last one. Axis 1 flips images
/// of shape [height, width, channels] left to right. For every dtype of fixed size.
Step random_flip(int axis, RandomOptions options = {});

}  // namespace headpond
