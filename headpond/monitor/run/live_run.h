// SPDX-License-Identifier: Apache-2.0
// The news of a run while it lasts, through the socket live.sock in its folder: the lines of run.jsonl, as they are
// written.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "headpond/base/status.h"
#include "headpond/monitor/run/run_record.h"

namespace headpond {

/// A client of a run. One thread at a time.
class LiveRun {
 public:
  /// NotFound if no run has a socket in `folder`; InvalidArgument if this user may not use it, or nobody answers.
  static Result<LiveRun> connect(const std::string& folder);
  LiveRun(LiveRun&& other) noexcept : socket_(std::exchange(other.socket_, -1)), rest_(std::move(other.rest_)) {}
  LiveRun& operator=(LiveRun&& other) noexcept {
    std::swap(socket_, other.socket_);
    rest_.swap(other.rest_);
    return *this;
  }
  ~LiveRun();

  /// Waits for a line, at most `wait`, and adds those that came to `run`. The first ones tell the machine and what each
  /// pipeline did so far. OutOfRange without a cause: the run has ended (RunRecord::is_whole), was killed, or has
  /// dropped this listener, which was too slow or one too many (32); only then it can connect again. DataLoss: a line
  /// is none of a run's.
  Result<void> read(RunRecord& run, std::chrono::milliseconds wait);

 private:
  explicit LiveRun(int socket) : socket_(socket) {}
  int socket_;
  std::string rest_ = {};  // A line that has not come whole.
};

}  // namespace headpond
