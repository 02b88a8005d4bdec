// SPDX-License-Identifier: Apache-2.0
// Ends a group of threads together: the first error stops all threads, and join() returns it.
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
  std::vector<ErrorKind> clean_stop_kinds = {
      ErrorKind::OutOfRange};  ///< Errors that stop the threads but are not recorded.
};

struct JoinOptions {
  std::chrono::nanoseconds stop_grace_period = std::chrono::seconds(120);  ///< Counted from the stop.
  bool ignore_live_threads = false;  ///< Threads that outlive the grace period are logged, not an error.
};

/// Owns its threads. The destructor requests a stop and waits until all threads have ended; after a second the log says
/// for which threads it waits. It never abandons a thread: QueueRunner and LooperThread use their coordinator until
/// their threads end. So what the threads' functions refer to must outlive the coordinator, and a function
/// must look at its stop token. None of the threads may destroy it. Thread-safe. After a fork() the child can only
/// destroy its copy: start(), request_stop() and join() are refused as FailedPrecondition.
class Coordinator {
 public:
  explicit Coordinator(CoordinatorOptions options = {});
  /// For tests: `clock`, which outlives this object, tells the time.
  Coordinator(CoordinatorOptions options, internal::WaitClock& clock);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Starts a thread. An error that `body` returns or throws goes to request_stop(). A join() that began earlier does
  /// not wait for this thread. Throws Exception: ResourceExhausted if the system refuses a thread.
  void start(std::string name, std::function<Result<void>(std::stop_token)> body);

  bool should_stop() const;
  std::stop_token stop_token() const;
  /// Asks all threads to stop. If `error` is not of a clean kind, it is recorded and logged; only the first call
  /// counts. The first call runs the tokens' stop callbacks before it returns. After a finished join() an error that is
  /// not of a clean kind is returned instead.
  Result<void> request_stop(Error error = {});
  /// Returns true iff a stop was requested before `timeout` passed. It may return before the stop callbacks have run.
  bool wait_for_stop(std::chrono::nanoseconds timeout = kForever);
  /// Forgets the stop, the error and the join. REQUIRES: all threads have ended.
  void clear_stop();

  /// Waits until all threads have ended, or until the grace period after a stop has passed. Returns the recorded error;
  /// if there is none, DeadlineExceeded with the names of the threads that still run. Another call returns the same
  /// error.
  Result<void> join(JoinOptions options = {});
  bool joined() const;  ///< True iff a join() has finished since construction or the last clear_stop().
  Result<void> raise_requested_exception() const;  ///< Returns the recorded error without waiting.

  /// Calls `body` on this thread; an error that it returns or throws goes to request_stop(), and join() returns it.
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
