// SPDX-License-Identifier: Apache-2.0
// The operators of pipeline files, a table. A new one needs a row in plan_operators.cc, a function there, in
// plan_sources.cc, plan_parsers.cc or plan_regroup.cc, and a row in docs/plan_files.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/plan/plan_arguments.h"
#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// Where an operator may stand: first in its chain, first and with `inputs`, after another operator, or either of the
/// last two.
enum class PlanPlace : uint8_t { source, joins, follows, either };

struct PlanStep {
  const PlanArguments& args;
  std::string name;                                     ///< May be empty.
  std::vector<std::pair<std::string, Dataset>> inputs;  ///< By chain name. `follows` has one, without a name.

  /// The chain of the argument `chain`, made for an element of the input; empty without that argument.
  std::function<Dataset(const Element&)> nested = {};
  std::optional<Dataset> outer = {};  ///< In such a chain: the element that it is made for, alone.

  const Dataset& input() const { return inputs[0].second; }
};

struct PlanOperator {
  std::string name;
  PlanPlace place;
  std::vector<std::string> arguments;
  std::function<Dataset(const PlanStep&)> build;  ///< Throws Exception or, with a line, PlanError.
};

const std::vector<PlanOperator>& plan_operators();

/// Calls `put(field, value)` for each field that the argument `name` gives a value for, by the name that the library's
/// options have for it. A dataset with one field may give the value without its name.
void for_fields(const PlanStep& step, const std::string& name,
                const std::function<void(const std::string& field, const PlanValue& value)>& put);

// Builders in plan_regroup.cc: what takes batches apart or gathers elements.

Dataset build_padded_batch(const PlanStep& step);
Dataset build_distribute(const PlanStep& step);
Dataset build_unbatch(const PlanStep& step);
Dataset build_rebatch(const PlanStep& step);
Dataset build_bucket_by_sequence_length(const PlanStep& step);
Dataset build_batch_by_size(const PlanStep& step);
Dataset build_dynamic_bucket(const PlanStep& step);
Dataset build_group_by_window(const PlanStep& step);
Dataset build_window(const PlanStep& step);
Dataset build_ragged_batch(const PlanStep& step);
Dataset build_sparse_batch(const PlanStep& step);
Dataset build_pack(const PlanStep& step);

}  // namespace headpond::cli
