// SPDX-License-Identifier: Apache-2.0
// What the programs headpond and headpond-torch share: reads the command line, runs one verb, writes its JSON object.
#pragma once

#include <string>
#include <vector>

namespace headpond::cli {

/// SIGUSR2 asks a RunLog that is open for its timeline (docs/monitoring.md); else it does nothing from now on, also in
/// a program that takes the place of this one.
void ignore_requests();

/// Returns the exit code. `arguments` has no program name.
int run_program(const std::vector<std::string>& arguments);

}  // namespace headpond::cli
