// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/log.h"

#include <array>
#include <cstdio>
#include <utility>

#include "headpond/base/mutex.h"

namespace headpond {
namespace {

void to_stderr(LogLevel level, std::string_view line) {
  static constexpr std::array<const char*, 4> kNames = {"debug", "info", "warning", "error"};
  if (level < LogLevel::warning) return;
  std::fprintf(stderr, "headpond %s: %.*s\n", kNames.at(static_cast<size_t>(level)), static_cast<int>(line.size()),
               line.data());
}

struct Log {
  Mutex mu;
  LogSink sink HEADPOND_GUARDED_BY(mu) = to_stderr;
};

// Never destroyed: threads may log while the program ends.
Log& global_log() {
  static Log* const instance = new Log;
  return *instance;
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  Log& state = global_log();
  if (!sink) sink = to_stderr;
  MutexLock lock(state.mu);
  return std::exchange(state.sink, std::move(sink));
}

void log(LogLevel level, std::string_view line) {
  constinit thread_local bool is_in_sink = false;
  if (is_in_sink) return to_stderr(level, line);
  Log& state = global_log();
  MutexLock lock(state.mu);
  is_in_sink = true;
  try {
    state.sink(level, line);
  } catch (...) {  // A failing sink must not end the program.
    to_stderr(level, line);
  }
  is_in_sink = false;
}

}  // namespace headpond
