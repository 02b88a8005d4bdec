// SPDX-License-Identifier: Apache-2.0
// Log lines go to the host's own sink: a library must not decide where a program writes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace headpond {

enum class LogLevel : uint8_t { debug, info, warning, error };

using LogSink = std::function<void(LogLevel level, std::string_view line)>;

/// Replaces the sink (the first one writes warnings and errors to stderr) and returns the one before. An empty function
/// restores the first one. Thread-safe.
///
/// The sink is called by any thread, one call at a time, from within whatever the thread does, be it a call that waits
/// at a queue. So it must not wait: of a queue it may call close(true), which does not wait then either, what has a
/// timeout of 0, and what only asks; a call that would wait for the one that reports is refused as FailedPrecondition.
/// What it causes to be logged itself goes to the first sink. It must not call this function.
LogSink set_log_sink(LogSink sink);

/// Hands one line, without a newline, to the sink. Thread-safe.
void log(LogLevel level, std::string_view line);

}  // namespace headpond
