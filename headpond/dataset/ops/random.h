// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers. What they draw is a function of seed, operator, epoch and the element's key, so
// neither threads nor order nor a restart change a value, and an unrelated operator in the pipeline does not either.
#pragma once

#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct RandomOptions {
  std::string field = "";  ///< Which one it works on; "": the only one.
  std::string name = "";   ///< Draws follow from it; "": the operator's name. Equal names below count.
};

/// A field of 32 random bits (u32) behind the others. `field` is its name, "random" if "".
Step random_u32(RandomOptions options = {});
/// Adds `stddev` times a standard normal to each value of an f32 field.
Step add_noise(float stddev, RandomOptions options = {});
/// Turns the order along `axis` around with probability 1/2; below 0 it counts from the last. 1 is left to right in
/// images of [height, width, channels]. For every dtype of fixed size.
Step random_flip(int axis, RandomOptions options = {});

}  // namespace headpond
