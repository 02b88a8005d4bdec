// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <exception>
#include <utility>

#include "headpond/base/status.h"
#include "headpond/queue/runner/reporter_internal.h"

namespace headpond::internal {

struct Reporter::Lines {
  Mutex mu;
  std::deque<std::pair<LogLevel, std::string>> waiting HEADPOND_GUARDED_BY(mu);
  bool is_running HEADPOND_GUARDED_BY(mu) = false;

  void log_all() {
    while (true) {
      std::pair<LogLevel, std::string> line;
      {
        MutexLock lock(mu);
        is_running = !waiting.empty();
        if (!is_running) return;
        line = std::move(waiting.front());
        waiting.pop_front();
      }
      log(line.first, line.second);
    }
  }
};

Reporter::~Reporter() {
  if (!thread_.joinable()) return;
  if (thread_.id() == std::this_thread::get_id() || !home_.is_here()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool Reporter::report(LogLevel level, const std::function<std::string()>& line) noexcept {
  try {
    std::string text = line();
    MutexLock lock(mu_);
    if (!lines_) lines_ = std::make_shared<Lines>();
    MutexLock lines_lock(lines_->mu);
    if (!lines_->is_running) {
      if (thread_.joinable()) thread_.join();  // It has nothing left to do.
      thread_ = Thread("queue report", [lines = lines_] { lines->log_all(); });
      lines_->is_running = true;
    }
    lines_->waiting.emplace_back(level, std::move(text));
    return true;
  } catch (const std::exception&) {
    (void)current_exception_error();
    return false;
  }
}

}  // namespace headpond::internal
