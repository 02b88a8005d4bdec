// SPDX-License-Identifier: Apache-2.0
// A step of a pipeline file, as the functions see it that build its operator.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/plan/plan_arguments.h"

namespace headpond::plan {

struct PlanStep {
  const PlanArguments& args;
  std::string name;                                     ///< May be empty.
  std::vector<std::pair<std::string, Dataset>> inputs;  ///< By chain name. `follows` has one, without a name.

  /// The chain of the argument `chain`, made for an element of the input; empty without that argument.
  std::function<Dataset(const Element&)> nested = {};
  /// Fields and kind of the datasets that `nested` gives; without fields they are seen by a call.
  Spec nested_output = {};
  std::optional<Kind> nested_kind = {};
  std::optional<Dataset> outer = {};  ///< In such a chain: the element that it is made for, alone.

  const Dataset& input() const { return inputs[0].second; }
};

}  // namespace headpond::plan
