// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <deque>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/queue/runner/reporter_internal.h"

namespace headpond::internal {
namespace {

struct Lines {
  const HomeProcess home;
  Mutex mu;
  CondVar is_idle;
  std::deque<std::pair<LogLevel, std::string>> waiting HEADPOND_GUARDED_BY(mu);
  bool is_running HEADPOND_GUARDED_BY(mu) = false;

  void log_all() {
    while (true) {
      std::pair<LogLevel, std::string> line;
      {
        const MutexLock lock(mu);
        is_running = !waiting.empty();
        if (!is_running) return is_idle.notify_all();
        line = std::move(waiting.front());
        waiting.pop_front();
      }
      log(line.first, line.second);
    }
  }
};

// Never destroyed: the thread may log while the program ends. After a fork() the child begins with none, as it has no
// thread, and perhaps a lock that is held for ever.
Lines& lines() {
  static std::atomic<Lines*> current = nullptr;
  Lines* present = current.load(std::memory_order_acquire);
  if (present != nullptr && present->home.is_here()) return *present;
  auto mine = std::make_unique<Lines>();
  if (current.compare_exchange_strong(present, mine.get(), std::memory_order_acq_rel)) return *mine.release();
  return *present;
}

}  // namespace

bool report_later(LogLevel level, const std::function<std::string()>& line) noexcept {
  try {
    std::string text = line();
    Lines& all = lines();
    const MutexLock lock(all.mu);
    all.waiting.emplace_back(level, std::move(text));
    if (all.is_running) return true;
    try {
      Thread("queue report", [&all] { all.log_all(); }).detach();
      all.is_running = true;
      return true;
    } catch (...) {
      all.waiting.pop_back();
      return false;
    }
  } catch (...) {
    return false;
  }
}

void wait_for_reports() {
  Lines& all = lines();
  const MutexLock lock(all.mu);
  while (all.is_running) all.is_idle.wait(all.mu);
}

}  // namespace headpond::internal
