// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "headpond/base/interrupt/interruptible.h"
#include "headpond/base/thread.h"
#include "headpond/queue/sync/wait_queue_internal.h"

namespace headpond::internal {

struct WaitQueue::Waiter {
  const CallKind kind;
  const Attempt& attempt;
  std::optional<WaitResult> outcome = {};
  std::exception_ptr thrown = {};
  CondVar ended = {};

  bool try_once(bool is_first) {
    bool done = true;
    try {
      done = attempt(is_first);
    } catch (...) {
      thrown = std::current_exception();  // This thread only happened to make the attempt.
    }
    if (done) outcome = WaitResult::go;
    return done;
  }
};

WaitResult WaitQueue::run(CallKind kind, const Wait& wait, const Attempt& attempt) {
  Waiter self{kind, attempt};
  // One that is stopped already calls this at once.
  const std::stop_callback on_stop(wait.stop, [&] {
    hand_over_point();
    MutexLock lock(mu);
    leave(self, WaitResult::stopped);
  });
  hand_over_point();
  MutexLock lock(mu);
  if (!self.outcome && self.try_once(waiters(kind).empty())) serve();
  if (!self.outcome && cancelled_) return WaitResult::cancelled;
  if (!self.outcome) sleep(self, wait);
  if (self.thrown) std::rethrow_exception(self.thrown);
  return *self.outcome;
}

void WaitQueue::sleep(Waiter& self, const Wait& wait) {
  const int64_t deadline = wait.timeout == kForever ? INT64_MAX : deadline_ns(now_ns(), wait.timeout);
  const std::chrono::steady_clock::time_point end{std::chrono::nanoseconds(deadline)};
  waiters(self.kind).push_back(&self);
  while (!self.outcome) {
    if (deadline == INT64_MAX) {
      wait_and_look(self.ended, mu);
    } else if (wait.timeout.count() <= 0 || !wait_and_look_until(self.ended, mu, end)) {
      leave(self, WaitResult::timed_out);
    }
  }
}

// Later waiters may be first now.
void WaitQueue::leave(Waiter& waiter, WaitResult why) {
  if (waiter.outcome) return;
  waiter.outcome = why;
  std::erase(waiters(waiter.kind), &waiter);
  waiter.ended.notify_one();
  serve();
}

void WaitQueue::serve() {
  while (true) {
    const bool has_put = serve(puts_);
    const bool has_taken = serve(takes_);
    if (!has_put && !has_taken) return;
  }
}

bool WaitQueue::serve(Waiters& waiters) {
  bool any = false;
  for (size_t i = 0; i < waiters.size();) {
    Waiter& waiter = *waiters[i];
    if (!waiter.try_once(i == 0)) {
      ++i;
      continue;
    }
    waiters.erase(waiters.begin() + static_cast<ptrdiff_t>(i));
    waiter.ended.notify_one();
    any = true;
  }
  return any;
}

void WaitQueue::cancel() {
  MutexLock lock(mu);
  cancelled_ = true;
  for (Waiters* const each : {&puts_, &takes_}) {
    for (Waiter* const waiter : *each) {
      waiter->outcome = WaitResult::cancelled;
      waiter->ended.notify_one();
    }
    each->clear();
  }
}

int64_t WaitQueue::waiting(CallKind kind) {
  MutexLock lock(mu);
  return std::ssize(waiters(kind));
}

Error wait_error(std::string_view operation, WaitResult result, const Wait& wait, const std::string& state) {
  if (result == WaitResult::timed_out) {
    const double milliseconds = std::chrono::duration<double, std::milli>(wait.timeout).count();
    return {ErrorKind::DeadlineExceeded,
            fmt::format("{} operation timed out after {} ms: {}", operation, milliseconds, state)};
  }
  return {ErrorKind::Cancelled,
          fmt::format("{} operation was cancelled: {}; {}", operation,
                      result == WaitResult::stopped ? "a stop was requested" : "its last handle is gone", state)};
}

}  // namespace headpond::internal
