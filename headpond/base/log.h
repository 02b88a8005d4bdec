// SPDX-License-Identifier: Apache-2.0
// Log lines go to a sink that the host program sets: a library must not decide where a program writes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace headpond {

enum class LogLevel : uint8_t { debug, info, warning, error };

using LogSink = std::function<void(LogLevel level, std::string_view line)>;

/// Replaces the sink and returns the previous one. The initial sink writes warnings and errors to stderr and drops
/// the rest; an empty function restores it. Thread-safe.
///
/// The sink is called by any thread, one call at a time: all lines wait for it, so it must not wait without a timeout
/// for a thread that may log. A queue reports from a thread of its own, which nobody waits for: so the sink may call
/// the queue or destroy it, and a report may come after the call that caused it has returned, and even after the queue
/// was destroyed. A sink that uses a queue owns a handle of it. A line that the sink itself logs goes to the initial
/// sink. So does a line for which the sink throws: the exception is dropped, and the sink stays. It must not call
/// set_log_sink(), which waits until the sink has returned. If it uses static objects, call set_log_sink({}) before
/// main() returns: a report may come later.
///
/// After a fork() the child has the same sink, or, if the parent was just using it, the initial one.
LogSink set_log_sink(LogSink sink);

/// Passes one line, without a newline, to the sink. Thread-safe.
void log(LogLevel level, std::string_view line);

}  // namespace headpond
