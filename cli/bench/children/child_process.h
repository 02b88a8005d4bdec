// SPDX-License-Identifier: Apache-2.0
// A program that a bench starts, and what it says.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::cli {

struct ChildOutput {
  std::string text;  ///< What it wrote to stdout.
  double cpu_s = 0;  ///< Processor time that it and its own children took.
};

/// Runs `words`, of which the first is a program that is looked for as the shell does, without an input, and waits for
/// its end. NotFound iff it cannot be started; FailedPrecondition, with the last line that it wrote to stderr, iff its
/// exit code is not 0; Cancelled iff a stop was requested; DeadlineExceeded iff it ran for longer than `most`. In all
/// cases it and what it started in its process group has ended. One thread at a time: it sets how SIGCHLD is handled.
/// Of the environment the program gets all but what begins with HEADPOND_, and HEADPOND_DATA.
Result<ChildOutput> run_child(const std::vector<std::string>& words, const std::stop_token& stop,
                              std::chrono::milliseconds most);

}  // namespace headpond::cli
