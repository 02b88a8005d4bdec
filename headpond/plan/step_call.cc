// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/step_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "headpond/plan/operators/plan_operators.h"
#include "headpond/plan/suggestion.h"

namespace headpond::plan {
namespace {

const PlanOperator& operator_of(const std::string& op) {
  const auto& all = plan_operators();
  const auto found = std::find_if(all.begin(), all.end(), [&](const PlanOperator& one) { return one.name == op; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const PlanOperator& one : all) names.push_back(one.name);
  throw Exception(Error(ErrorKind::NotFound, fmt::format("no operator '{}'{}", op, did_you_mean(op, names))));
}

void check_inputs(const PlanOperator& op, const StepCall& call) {
  const bool follows = call.inputs.size() == 1 && call.inputs[0].first.empty();
  const bool joins = !call.inputs.empty() && !follows;
  const bool fits = op.takes == PlanInput::source   ? call.inputs.empty()
                    : op.takes == PlanInput::joins  ? joins
                    : op.takes == PlanInput::either ? follows || joins
                                                    : follows;
  if (!fits) refuse(op.name, fmt::format("{} inputs are not what it takes", call.inputs.size()));
}

PlanArguments::Chains chains_of(const StepCall& call) {
  if (call.chains.empty()) return {};
  return [&call](const std::string& name, int64_t) {
    const auto found = std::ranges::find(call.chains, name, &std::pair<std::string, Dataset>::first);
    if (found == call.chains.end()) refuse(call.op, fmt::format("no chain '{}'", name));
    return found->second;
  };
}

}  // namespace

Dataset build_step(const StepCall& call) {
  const PlanOperator& op = operator_of(call.op);
  check_inputs(op, call);
  PlanTable sorted = call.args;
  std::ranges::sort(sorted, {}, &PlanTable::value_type::first);
  const PlanValue args{.line = 0, .is = std::move(sorted)};
  const PlanArguments arguments("", 0, op.name, &args, op.arguments, chains_of(call));
  return op.build({.args = arguments,
                   .name = call.name,
                   .inputs = call.inputs,
                   .nested = call.nested,
                   .nested_output = call.nested_output,
                   .nested_kind = call.nested_kind});
}

}  // namespace headpond::plan
