// SPDX-License-Identifier: Apache-2.0
// The kernels of pipeline files, a table: map's argument `kernels`, [{ name = "decode_png", channels = 3 }]. To add
// one:
//   1. write a function from its options to the kernel in kernels.cc, with the getters of PlanArguments;
//   2. add a row there: name, options, function; unknown names and options are refused by the table;
//   3. add a row to docs/plan_files.md.
#pragma once

#include "cli/plan/plan_operators.h"

namespace headpond::cli {

/// map with `kernels`, on `field` or on `fields`, a table of roles. Throws PlanError.
Dataset build_map_kernels(const PlanStep& step);

}  // namespace headpond::cli
