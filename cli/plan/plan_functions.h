// SPDX-License-Identifier: Apache-2.0
// map and filter by an expression.
#pragma once

#include <optional>
#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

// Both throw Exception(InvalidArgument) for an expression that is none over the fields of `input`. Each call of
// random_u32() is one random_u32 step (ops/random.h) below, drawn for each element of the dataset, arrays or not;
// `name` is its name, if not "". The expression belongs to the plan, so a state notices when it changes.

/// Each element replaced by what `function` gives: one field x. `into` adds or replaces the field of that name instead.
Dataset mapped(const Dataset& input, const std::string& function, const std::optional<std::string>& into,
               const std::string& name);
/// The elements for which `predicate` is not 0. Throws also for one over arrays.
Dataset filtered(const Dataset& input, const std::string& predicate, const std::string& name);

}  // namespace headpond::cli
