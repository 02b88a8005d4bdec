// SPDX-License-Identifier: Apache-2.0
// What the programs headpond and headpond-torch share: reads the command line, runs one verb, writes its JSON object.
#pragma once

#include <string>
#include <vector>

namespace headpond::cli {

/// Returns the exit code. `arguments` has no program name.
int run_program(const std::vector<std::string>& arguments);

}  // namespace headpond::cli
