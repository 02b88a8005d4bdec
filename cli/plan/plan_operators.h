// SPDX-License-Identifier: Apache-2.0
// The operators of pipeline files, a table. A new one needs a row in plan_operators.cc, a function there, in
// plan_sources.cc or in plan_parsers.cc, and a row in docs/plan_files.md.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/plan/plan_arguments.h"
#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// Where an operator may stand: first in its chain, first and with `inputs`, or after another operator.
enum class PlanPlace : uint8_t { source, joins, follows };

struct PlanStep {
  const PlanArguments& args;
  std::string name;                                     ///< May be empty.
  std::vector<std::pair<std::string, Dataset>> inputs;  ///< By chain name. `follows` has one, without a name.

  const Dataset& input() const { return inputs[0].second; }
};

struct PlanOperator {
  std::string name;
  PlanPlace place;
  std::vector<std::string> arguments;
  std::function<Dataset(const PlanStep&)> build;  ///< Throws Exception or, with a line, PlanError.
};

const std::vector<PlanOperator>& plan_operators();

}  // namespace headpond::cli
