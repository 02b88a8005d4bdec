// SPDX-License-Identifier: Apache-2.0
// Tasks that do not return while the program waits, and when the log says so: of each once, of the first within five
// seconds, and then ever less often, but each minute at least, so that functions that only take long fill no log.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/progress/at_element.h"
#include "headpond/engine/executor/work_source_internal.h"

namespace headpond::internal {

/// What a thread does now. It sets this itself: the task under the lock, the rest where nobody looks at it.
struct RunningTask {
  const Task* task = nullptr;        ///< Null: none.
  mutable int64_t seen_ns = 0;       ///< When somebody looked first since it began; 0: nobody yet.
  mutable bool is_reported = false;  ///< The log says that it does not return.
  ElementHere here;
  uint64_t thread = 0;  ///< pthread_self().
  int id = 0;           ///< The system's number of the thread.
};

/// One that does not return, for the log.
struct LateTask {
  std::string thread;  ///< "thread headpond/0".
  std::string what;    ///< What it does.
  uint64_t handle;     ///< pthread_self() of its thread.
  int id;              ///< The system's.
};

class LateTasks {
 public:
  static constexpr std::chrono::milliseconds kBetweenLooks{1000};

  /// Whether it is time to look again. Then the caller looks.
  bool is_due(int64_t now) {
    if (now < next_look_ns_) return false;
    next_look_ns_ = now + kBetweenLooksNs;
    return true;
  }
  /// Whether looks have seen it for so long, and it was not reported. To be asked in each look.
  static bool is_late(const RunningTask& running, int64_t now) {
    if (running.task == nullptr || running.is_reported) return false;
    if (running.seen_ns == 0) running.seen_ns = now;
    return now - running.seen_ns >= kLateNs;
  }
  /// Whether late tasks are to be reported: one call of the program waits so long already, and no report was just now.
  bool may_report(int64_t now, int64_t waited_ns) const { return waited_ns >= kLateNs && now >= next_report_ns_; }
  /// Some were reported.
  void reported(int64_t now) {
    if (now - next_report_ns_ > pause_ns_) pause_ns_ = kFirstPauseNs;  // It was quiet.
    next_report_ns_ = now + pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
  }

 private:
  static constexpr int64_t kBetweenLooksNs = 900'000'000, kLateNs = 1'900'000'000;
  static constexpr int64_t kFirstPauseNs = 10'000'000'000, kLongestPauseNs = 60'000'000'000;

  int64_t next_look_ns_ = 0, next_report_ns_ = 0, pause_ns_ = kFirstPauseNs;
};

/// Says it in the log, and where the threads are in the host's language, for which it may wait.
void log_late_tasks(int64_t waited_ns, const std::vector<LateTask>& late);

}  // namespace headpond::internal
