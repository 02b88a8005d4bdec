// SPDX-License-Identifier: Apache-2.0
// A thread that does the same thing at equal distances in time: that saves, reports, looks after something.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "headpond/base/status.h"
#include "headpond/queue/runner/coordinator.h"

namespace headpond {

struct LooperOptions {
  std::string name = "LooperThread";
  std::function<Result<void>()> start_loop = {};  ///< Called once on the thread, first.
  std::function<Result<void>()> stop_loop = {};   ///< Called once on the thread, after a stop; not after an error.
};

class LooperThread {
 public:
  /// Starts a thread of `coordinator` that calls `body` at once and then each `interval`: a call is due one interval
  /// after the one before was due, however long that took, so there is no drift; one that is late begins at once. An
  /// interval of 0: back to back. Ends when a stop is requested. An error that a function returns or throws requests
  /// it. Throws Exception(InvalidArgument) for an interval below 0 or an empty `body`.
  static void loop(Coordinator& coordinator, std::chrono::nanoseconds interval, std::function<Result<void>()> body,
                   LooperOptions options = {});
};

}  // namespace headpond
