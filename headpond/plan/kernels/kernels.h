// SPDX-License-Identifier: Apache-2.0
// map with kernels in a pipeline file: map's argument `kernels`, [{ name = "decode_png", channels = 3 }]. Which
// kernels there are: plan_kernel.h.
#pragma once

#include "headpond/plan/plan_step.h"

namespace headpond::plan {

/// map with `kernels`, on `field` or on `fields`, a table of roles. Throws PlanError.
Dataset build_map_kernels(const PlanStep& step);

}  // namespace headpond::plan
