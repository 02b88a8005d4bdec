// SPDX-License-Identifier: Apache-2.0
// Logs on a thread of its own. Calls that wait hold locks, and the log's sink is code of the user, which may call the
// queue that it hears of, or destroy it. So the thread knows nothing but lines, and nobody waits for it.
#pragma once

#include <functional>
#include <string>

#include "headpond/base/log.h"

namespace headpond::internal {

/// Logs what `line` returns, after the lines before it; does not wait for the sink. Returns false iff that cannot be
/// done now: there is no memory, or no thread can be started. Thread-safe. A thread runs only while there are lines.
bool report_later(LogLevel level, const std::function<std::string()>& line) noexcept;

/// Waits until all lines so far are logged. For tests.
void wait_for_reports();

}  // namespace headpond::internal
