// SPDX-License-Identifier: Apache-2.0
// Log lines go to a sink that the host program sets: a library must not decide where a program writes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace headpond {

enum class LogLevel : uint8_t { debug, info, warning, error };

using LogSink = std::function<void(LogLevel level, std::string_view line)>;

/// Replaces the sink and returns the previous one. The initial sink writes warnings and errors to stderr; an empty
/// function restores it. Thread-safe.
///
/// The sink is called by any thread, one call at a time: all lines wait for it, so it must not wait without a timeout
/// for a thread that may log. A queue reports from a thread of its own, so the sink may call the queue. A report may
/// come after the call that caused it has returned, but not after the last handle of its queue was destroyed, unless
/// the sink itself does that. Lines that the sink itself logs go to the initial sink. It must not call set_log_sink().
LogSink set_log_sink(LogSink sink);

/// Passes one line, without a newline, to the sink. Thread-safe.
void log(LogLevel level, std::string_view line);

}  // namespace headpond
