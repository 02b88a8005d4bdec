// SPDX-License-Identifier: Apache-2.0
// The benches of the Python package. Their rows, targets and functions are the package's own
// (benchmarks/python/benches.py, which lies in it); each row is measured by a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench/bench_harness.h"
#include "headpond/base/status.h"

namespace headpond::cli {

struct PythonSetup {
  std::string python = "python3";  ///< A program: a Python with the package.
  std::string peer_python = {};    ///< One with peers that the first one may lack. Empty: none.
  bool peers = true;
  std::vector<int> cpus = {};  ///< Not empty.
  double seconds = 0;          ///< Of a bench; 0: each system is measured for 3 s a round.
  int64_t rounds = 0;          ///< 0: the bench's own.
  std::stop_token stop = {};
  std::function<void(std::string_view)> say = {};  ///< A line for each system that is not installed.
};

/// The bench of that name, which begins with "python.". Unimplemented iff no Python has the package with its benches;
/// Cancelled after a stop; FailedPrecondition iff the package says what is not understood.
Result<Bench> python_bench(const std::string& name, const PythonSetup& setup);

}  // namespace headpond::cli
