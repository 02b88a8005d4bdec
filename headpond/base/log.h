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
/// restores the first one. The sink is called by any thread, one call at a time, and must not log itself. Thread-safe.
LogSink set_log_sink(LogSink sink);

/// Hands one line, without a newline, to the sink. Thread-safe.
void log(LogLevel level, std::string_view line);

}  // namespace headpond
