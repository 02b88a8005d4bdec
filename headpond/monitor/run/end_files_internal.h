// SPDX-License-Identifier: Apache-2.0
// The files that a run's folder gets at its end.
#pragma once

#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/monitor/run/memory_use.h"
#include "headpond/monitor/run/run_record.h"

namespace headpond::internal {

/// verdict.json: the verdict of the pipeline that was waited for most, then those of `all`.
Result<void> write_verdicts(const std::string& folder, const std::vector<PipelineRecord>& all);
/// profile.json: the operators of each pipeline, and what was in memory when that was most.
Result<void> write_profiles(const std::string& folder, const std::vector<PipelineRecord>& all,
                            const std::vector<MemoryUse>& at_most);
/// report.html, made of what is in the folder.
Result<void> write_report(const std::string& folder);

}  // namespace headpond::internal
