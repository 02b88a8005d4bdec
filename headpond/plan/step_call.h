// SPDX-License-Identifier: Apache-2.0
// A step of a pipeline by the name and the arguments that it has in pipeline files, for doors that have values instead
// of a file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/plan/plan_value.h"

namespace headpond::plan {

struct StepCall {
  std::string op;
  PlanTable args = {};  ///< In any order.
  std::string name = "";
  /// For an operator that follows another one: that one, without a name. For one that joins: its inputs by name.
  std::vector<std::pair<std::string, Dataset>> inputs = {};
  /// Datasets that arguments name as chains do, as mix_noise's `noise` does.
  std::vector<std::pair<std::string, Dataset>> chains = {};
  /// Instead of the argument `chain`: the dataset of an element.
  std::function<Dataset(const Element&)> nested = {};
  Spec nested_output = {};  ///< Its fields; empty: seen by a call for an element of zeros and empty texts.
  std::optional<Kind> nested_kind = {};
};

/// The dataset that the operator makes: the same plan and states as the step in a file. Throws Exception: NotFound for
/// an unknown operator, else as the operator does.
Dataset build_step(const StepCall& call);

}  // namespace headpond::plan
