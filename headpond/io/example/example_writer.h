// SPDX-License-Identifier: Apache-2.0
// Writes tf.train.Example and tf.train.SequenceExample (docs/formats/example.md) in one canonical form: keys sorted by
// their bytes, lists of numbers packed, so that equal values give equal bytes on every machine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// dtype f32, i64 or bytes, of any shape: a list of all values, row by row. u8: a list of a single value of dtype
/// bytes. f64 without values: a feature without a list, which parsers take for an empty one of any dtype.
struct NamedTensor {
  std::string_view key;
  Tensor value;
};
/// A feature list: each tensor is a step.
struct NamedSteps {
  std::string_view key;
  std::vector<Tensor> steps;
};

/// InvalidArgument, with the key, iff a key occurs twice or is not UTF-8 (other programs would not read it), or an
/// Example has no list for the dtype; ResourceExhausted iff the message would reach 2 GiB (other programs would not
/// read it), or there is no memory.
Result<std::string> make_example(std::span<const NamedTensor> features);
Result<std::string> make_sequence_example(std::span<const NamedTensor> context, std::span<const NamedSteps> lists);

}  // namespace headpond
