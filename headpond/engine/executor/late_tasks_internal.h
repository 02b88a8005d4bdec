// SPDX-License-Identifier: Apache-2.0
// Tasks that do not return while the program waits, and when the log says so: of each once, within five seconds, and
// ever less often, so that functions that only take long fill no log.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/bases/at_element.h"
#include "headpond/engine/executor/work_source_internal.h"

namespace headpond::internal {

/// What a thread does now. It sets this itself, all but `here` under the lock.
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
  /// Whether looks have seen it for so long; then it counts as reported.
  static bool is_late(const RunningTask& running, int64_t now) {
    if (running.task == nullptr || running.is_reported) return false;
    if (running.seen_ns == 0) running.seen_ns = now;
    return running.is_reported = now - running.seen_ns >= kLateNs;
  }
  /// Some were reported.
  void reported(int64_t now) {
    next_look_ns_ = now + pause_ns_;
    pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
  }

 private:
  static constexpr int64_t kBetweenLooksNs = 900'000'000, kLateNs = 2'500'000'000;
  static constexpr int64_t kFirstPauseNs = 10'000'000'000, kLongestPauseNs = 3'600'000'000'000;

  int64_t next_look_ns_ = 0, pause_ns_ = kFirstPauseNs;
};

/// Says it in the log, and where the threads are in the host's language, for which it may wait.
void log_late_tasks(int64_t waited_ns, const std::vector<LateTask>& late);

}  // namespace headpond::internal
