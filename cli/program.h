// SPDX-License-Identifier: Apache-2.0
// What the programs headpond and headpond-torch share: reads the line, runs one verb, writes its JSON object.
#pragma once

#include <string>
#include <vector>

namespace headpond::cli {

/// `arguments`: without the program's name. Returns the exit code.
int run_program(std::vector<std::string> arguments);

}  // namespace headpond::cli
