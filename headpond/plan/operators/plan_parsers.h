// SPDX-License-Identifier: Apache-2.0
// Operators of pipeline files that parse text into fields, for the table in plan_operators.cc.
#pragma once

#include "headpond/plan/plan_step.h"

namespace headpond::plan {

Dataset build_parse_example(const PlanStep& step);
Dataset build_parse_sequence_example(const PlanStep& step);
Dataset build_decode_json_example(const PlanStep& step);
Dataset build_decode_raw(const PlanStep& step);
Dataset build_raw_image(const PlanStep& step);
Dataset build_parse_json(const PlanStep& step);

}  // namespace headpond::plan
