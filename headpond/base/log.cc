// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/log.h"

#include <pthread.h>

#include <array>
#include <atomic>
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

constinit thread_local bool is_in_sink = false;
constinit thread_local bool is_held_for_fork = false;

// Never destroyed: threads may log while the program ends.
std::atomic<Log*>& global_log() {
  static std::atomic<Log*> instance = new Log;
  return instance;
}

// A child has no other thread that would leave the log: it keeps the log if that is free now, else it gets a new one.
void before_fork() HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
  is_held_for_fork = !is_in_sink && global_log().load()->mu.try_lock();
}
void in_parent() HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
  if (is_held_for_fork) global_log().load()->mu.unlock();
}
void in_child() HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
  in_parent();
  if (!is_held_for_fork) global_log() = new Log;
}

Log& the_log() {
  [[maybe_unused]] static const int registered = pthread_atfork(before_fork, in_parent, in_child);
  return *global_log().load();
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  Log& state = the_log();
  if (!sink) sink = to_stderr;
  MutexLock lock(state.mu);
  return std::exchange(state.sink, std::move(sink));
}

void log(LogLevel level, std::string_view line) {
  if (is_in_sink) return to_stderr(level, line);
  Log& state = the_log();
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
