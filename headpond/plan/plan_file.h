// SPDX-License-Identifier: Apache-2.0
// Pipeline files: a dataset in TOML. docs/plan_files.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/plan/plan_value.h"

namespace headpond::plan {

/// parse_plan() fills it by position: a new member comes last.
struct PlanFile {
  Dataset dataset;
  std::optional<uint64_t> seed;
  std::vector<std::pair<std::string, Dataset>> named = {};  ///< The dataset of each step with a `name`.
};

/// Opens the data files that it names. Throws PlanError, which names file and line, if the file is not a valid
/// pipeline.
PlanFile read_plan_file(const std::string& path);
/// The same for a text; `path` is for errors.
PlanFile parse_plan(std::string_view text, const std::string& path);

}  // namespace headpond::plan
