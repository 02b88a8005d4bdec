// SPDX-License-Identifier: Apache-2.0
// The lines of run.jsonl, read.
#pragma once

#include <string_view>

#include "headpond/base/status.h"
#include "headpond/monitor/run/run_record.h"

namespace headpond::internal {

/// DataLoss if it is none of a run's. `line`: without its end.
Result<void> add_line(std::string_view line, RunRecord& run);

}  // namespace headpond::internal
