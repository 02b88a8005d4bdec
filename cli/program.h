// SPDX-License-Identifier: Apache-2.0
// What the programs headpond and headpond-torch share: reads the command line, runs one verb, writes its JSON object.
#pragma once

#include <string>
#include <vector>

namespace headpond::cli {

/// To be called first. From now on, also in a program that takes the place of this one: SIGUSR2 does nothing, unless it
/// asks a RunLog that is open for its timeline (docs/monitoring.md); stdin, stdout and stderr that are closed stay so,
/// whatever is opened, so that reading or writing them is an error.
void prepare_process();

/// Returns the exit code. `arguments` has no program name.
int run_program(const std::vector<std::string>& arguments);

}  // namespace headpond::cli
