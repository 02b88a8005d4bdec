// SPDX-License-Identifier: Apache-2.0
// Ends a group of threads together: the first error wins, everybody is asked to stop, and join() tells the error.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/status.h"

namespace headpond {
namespace internal {
class WaitClock;
}

struct CoordinatorOptions {
  std::vector<ErrorKind> clean_stop_kinds = {ErrorKind::OutOfRange};  ///< Errors that count as a plain stop.
};

struct JoinOptions {
  std::chrono::nanoseconds stop_grace_period = std::chrono::seconds(120);  ///< Counted from the stop.
  bool ignore_live_threads = false;  ///< Threads that outlive the grace period are a log line, not an error.
};

/// Owns its threads. The destructor requests a stop and waits until all threads have ended; after a second the log says
/// for which threads it waits. So what the threads' functions refer to must outlive the coordinator, and a function
/// must look at its stop token. None of the threads may destroy it. Thread-safe. After a fork() the child's copy has no
/// threads: start() and join() are refused as FailedPrecondition.
class Coordinator {
 public:
  explicit Coordinator(CoordinatorOptions options = {});
  /// For tests: all times are those of `clock`, which outlives this object.
  Coordinator(CoordinatorOptions options, internal::WaitClock& clock);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Starts a thread of this coordinator. An error that `body` returns or throws goes to request_stop. Threads started
  /// after a join() began are not awaited by it.
  void start(std::string name, std::function<Result<void>(std::stop_token)> body);

  bool should_stop() const;
  std::stop_token stop_token() const;
  /// Asks everybody to stop; the first error that is not of a clean kind is recorded and logged, one after the stop is
  /// dropped. Runs the stop callbacks of the tokens before it returns. After a finished join() it returns `error`
  /// instead (ok if clean).
  Result<void> request_stop(Error error = {});
  /// Returns true iff a stop was requested before `timeout` passed.
  bool wait_for_stop(std::chrono::nanoseconds timeout = kForever);
  /// Forgets stop, error and join. REQUIRES: no thread of the old run is still alive.
  void clear_stop();

  /// Waits until all threads ended, or until a stop was requested and the grace period passed. Then tells the recorded
  /// error; else DeadlineExceeded with the names of those still running. May be called again: the same error is told
  /// again.
  Result<void> join(JoinOptions options = {});
  bool joined() const;  ///< True iff a join() finished since the start or the last clear_stop().
  Result<void> raise_requested_exception() const;  ///< The recorded error, without joining.

  /// Runs `body`; what it throws, or returns as an error, goes to request_stop and comes back from join().
  template <class Body>
  void stop_on_exception(Body&& body) {
    Error error;
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
        std::forward<Body>(body)();
        return;
      } else {
        auto result = std::forward<Body>(body)();
        if (result) return;
        error = std::move(result).error();
      }
    } catch (...) {
      error = current_exception_error();
    }
    (void)request_stop(std::move(error));
  }

 private:
  friend class LooperThread;
  struct State;
  int64_t now() const;
  bool wait_for_stop_until(int64_t deadline);

  std::unique_ptr<State> state_;
};

}  // namespace headpond
