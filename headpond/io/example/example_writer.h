// SPDX-License-Identifier: Apache-2.0
// Writes tf.train.Example and tf.train.SequenceExample (docs/formats/example.md): the one canonical form, keys in the
// order of their bytes, lists of numbers packed, so that equal values give equal bytes on every machine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// dtype f32, i64 or bytes of any shape: a list of all values, row by row. u8: a list of one value of dtype bytes.
struct NamedTensor {
  std::string_view key;
  Tensor value;
};
/// A feature list: each tensor is a step.
struct NamedSteps {
  std::string_view key;
  std::vector<Tensor> steps;
};

/// InvalidArgument, naming the key, iff one is there twice or is not UTF-8, which others would not read, or a dtype has
/// no place in an Example; ResourceExhausted iff the message would reach 2 GiB, which other programs do not read, or
/// memory is out.
Result<std::string> make_example(std::span<const NamedTensor> features);
Result<std::string> make_sequence_example(std::span<const NamedTensor> context, std::span<const NamedSteps> lists);

}  // namespace headpond
