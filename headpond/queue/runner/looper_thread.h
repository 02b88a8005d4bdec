// SPDX-License-Identifier: Apache-2.0
// A thread that calls a function at regular intervals, for example to save or to report.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "headpond/base/status.h"
#include "headpond/queue/runner/coordinator.h"

namespace headpond {

struct LooperOptions {
  std::string name = "LooperThread";
  std::function<Result<void>()> start_loop = {};  ///< Called once on the thread, before the first call.
  std::function<Result<void>()> stop_loop = {};   ///< Called once on the thread after a stop, but not after an error.
};

class LooperThread {
 public:
  /// Starts a thread of `coordinator` that calls `body` at once and then each `interval`. A call is due one interval
  /// after the previous call was due, so there is no drift; a call that is late begins at once. An interval of 0 means
  /// back to back. The thread ends when a stop is requested; an error that one of the functions returns or throws
  /// requests it. Throws Exception(InvalidArgument) for an interval below 0 or an empty `body`.
  static void loop(Coordinator& coordinator, std::chrono::nanoseconds interval, std::function<Result<void>()> body,
                   LooperOptions options = {});
};

}  // namespace headpond
