// SPDX-License-Identifier: Apache-2.0
// The operators of pipeline files, a table. A new one needs a row in plan_operators.cc, a function there, in
// plan_sources.cc, plan_parsers.cc or plan_regroup.cc, and a row in docs/plan_files.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/plan/plan_step.h"

namespace headpond::plan {

/// Where an operator may stand: first in its chain, first and with `inputs`, after another operator, or either of the
/// last two.
enum class PlanInput : uint8_t { source, joins, follows, either };

struct PlanOperator {
  std::string name;
  PlanInput takes;
  std::vector<std::string> arguments;
  std::function<Dataset(const PlanStep&)> build;  ///< Throws Exception or, with a line, PlanError.
};

const std::vector<PlanOperator>& plan_operators();

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

}  // namespace headpond::plan
