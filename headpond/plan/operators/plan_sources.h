// SPDX-License-Identifier: Apache-2.0
// Operators of pipeline files that read files, for the table in plan_operators.cc.
#pragma once

#include "headpond/plan/plan_step.h"

namespace headpond::plan {

Dataset build_range(const PlanStep& step);
Dataset build_counter(const PlanStep& step);
Dataset build_random(const PlanStep& step);
Dataset build_list_files(const PlanStep& step);
Dataset build_idx(const PlanStep& step);
Dataset build_cifar10(const PlanStep& step);
Dataset build_cifar100(const PlanStep& step);
Dataset build_tfrecord(const PlanStep& step);
Dataset build_text_lines(const PlanStep& step);
Dataset build_csv(const PlanStep& step);
Dataset build_npy(const PlanStep& step);
Dataset build_fixed_length(const PlanStep& step);
Dataset build_tar(const PlanStep& step);
Dataset build_folder(const PlanStep& step);
Dataset build_load(const PlanStep& step);

}  // namespace headpond::plan
