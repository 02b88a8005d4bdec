// SPDX-License-Identifier: Apache-2.0
// Logs on a thread of its own. Calls that wait hold locks, and the log's sink is code of the user, which may call the
// queue that it hears of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"

namespace headpond::internal {

/// Thread-safe. A thread runs only while there are lines to log.
class Reporter {
 public:
  Reporter() = default;
  /// Waits until the lines are logged, unless the sink itself destroys the reporter.
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  /// Logs what `line` returns, after the lines before it; does not wait for the sink. Returns false iff that cannot be
  /// done now: there is no memory, or no thread can be started.
  bool report(LogLevel level, const std::function<std::string()>& line) noexcept;

 private:
  struct Lines;

  const HomeProcess home_;
  Mutex mu_;
  // Made by the first report. The thread has it too: the sink may destroy *this.
  std::shared_ptr<Lines> lines_ HEADPOND_GUARDED_BY(mu_);
  Thread thread_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
