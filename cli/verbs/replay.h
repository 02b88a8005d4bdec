// SPDX-License-Identifier: Apache-2.0
// headpond run --replay: reads the elements of a quarantine file again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/session.h"
#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// Prints a line of JSON for each entry of `file`, at most `limit`: the element as the on_error reads it now, or its
/// error. Fails only if the file cannot be read.
Result<Report> replay(Session& session, const Dataset& dataset, const std::string& file, std::optional<int64_t> limit);

}  // namespace headpond::cli
