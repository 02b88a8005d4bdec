// SPDX-License-Identifier: Apache-2.0
// map, filter and others by an expression.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::plan {

// They throw Exception(InvalidArgument) for a text that is not an expression over the fields of `input`. Each call of
// random_u32() becomes one random_u32 step (ops/random.h) on `input`, which draws once for each element; `name`, if not
// empty, is its name. The expression is a part of the plan, so a state of another expression is refused.

/// Replaces each element by the value of `function`, one field x; with `into` adds or replaces that field instead. With
/// `dtype` the value is converted; one that does not fit is the element's error, InvalidArgument.
Dataset mapped(const Dataset& input, const std::string& function, const std::optional<std::string>& into,
               std::optional<DType> dtype, const std::string& name);
/// Keeps the elements for which `predicate` is not 0. Throws also for a predicate over arrays.
Dataset filtered(const Dataset& input, const std::string& predicate, const std::string& name);
/// The same for the elements before the first one for which it is 0.
Dataset taken_while(const Dataset& input, const std::string& predicate, const std::string& name);
/// rejection_resample with `function` as the class. Throws also for a function over arrays or of floats.
Dataset resampled(const Dataset& input, const std::string& function, const std::vector<double>& target_dist,
                  const std::vector<double>& initial_dist, const std::string& name);

/// scan with `function`, an expression over the fields and the field `state`, as the next state, and the value of
/// `output`, another one over these, in place of the element, one field x; without `output` the next state. The state
/// is a scalar of the dtype of `initial`, i64 or f64. Throws also for a function over arrays, of floats where the state
/// is an integer, or with random_u32(), and for an input with a field `state`.
Dataset scanned(const Dataset& input, const Tensor& initial, const std::string& function,
                const std::optional<std::string>& output, const std::string& name);

/// An integer that follows from an element, and the text that says how, for the plan.
struct IntegerOf {
  std::function<Result<int64_t>(const Element&)> call;
  std::string label;
};
/// `function` is an expression of one integer, or the name of a field that is an array or bytes: its length, the first
/// dimension or the number of bytes. Throws also for an expression over arrays, of floats, or with random_u32().
IntegerOf integer_of(const std::string& op, const Dataset& input, const std::string& function, const std::string& name);

}  // namespace headpond::plan
