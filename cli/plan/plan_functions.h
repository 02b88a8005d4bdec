// SPDX-License-Identifier: Apache-2.0
// map and filter by an expression.
#pragma once

#include <optional>
#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

// Both throw Exception(InvalidArgument) for a text that is not an expression over the fields of `input`. Each call of
// random_u32() becomes one random_u32 step (ops/random.h) on `input`, which draws once for each element; `name`, if not
// empty, is its name. The expression is a part of the plan, so a state of another expression is refused.

/// Replaces each element by the value of `function`, one field x; with `into` adds or replaces that field instead.
Dataset mapped(const Dataset& input, const std::string& function, const std::optional<std::string>& into,
               const std::string& name);
/// Keeps the elements for which `predicate` is not 0. Throws also for a predicate over arrays.
Dataset filtered(const Dataset& input, const std::string& predicate, const std::string& name);

}  // namespace headpond::cli
