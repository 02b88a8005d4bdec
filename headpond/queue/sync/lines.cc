// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "headpond/base/thread.h"
#include "headpond/queue/sync/lines_internal.h"

namespace headpond::internal {

struct Lines::Waiter {
  const Side side;
  const Attempt& attempt;
  std::optional<Pass> outcome = {};
  std::exception_ptr thrown = {};
  CondVar ended = {};

  bool try_once(bool is_first) {
    bool done = true;
    try {
      done = attempt(is_first);
    } catch (...) {
      thrown = std::current_exception();  // Not the business of the thread that is here by chance.
    }
    if (done) outcome = Pass::go;
    return done;
  }
};

Pass Lines::run(Side side, const Wait& wait, const Attempt& attempt) {
  Waiter self{side, attempt};
  // One that is stopped already calls this at once.
  const std::stop_callback on_stop(wait.stop, [&] {
    hand_over_point();
    MutexLock lock(mu);
    leave(self, Pass::stopped);
  });
  hand_over_point();
  MutexLock lock(mu);
  if (!self.outcome && self.try_once(line(side).empty())) serve();
  if (!self.outcome && cancelled_) return Pass::cancelled;
  if (!self.outcome) sleep(self, wait);
  if (self.thrown) std::rethrow_exception(self.thrown);
  return *self.outcome;
}

void Lines::sleep(Waiter& self, const Wait& wait) {
  const int64_t deadline = wait.timeout == kForever ? INT64_MAX : deadline_ns(now_ns(), wait.timeout);
  const std::chrono::steady_clock::time_point end{std::chrono::nanoseconds(deadline)};
  line(self.side).push_back(&self);
  while (!self.outcome) {
    if (deadline == INT64_MAX) {
      self.ended.wait(mu);
    } else if (wait.timeout.count() <= 0 || !self.ended.wait_until(mu, end)) {
      leave(self, Pass::timed_out);
    }
  }
}

// Those behind may be first now.
void Lines::leave(Waiter& waiter, Pass why) {
  if (waiter.outcome) return;
  waiter.outcome = why;
  std::erase(line(waiter.side), &waiter);
  waiter.ended.notify_one();
  serve();
}

void Lines::serve() {
  while (true) {
    const bool has_put = serve(puts_);
    const bool has_taken = serve(takes_);
    if (!has_put && !has_taken) return;
  }
}

bool Lines::serve(Line& line) {
  bool any = false;
  for (size_t i = 0; i < line.size();) {
    Waiter& waiter = *line[i];
    if (!waiter.try_once(i == 0)) {
      ++i;
      continue;
    }
    line.erase(line.begin() + static_cast<ptrdiff_t>(i));
    waiter.ended.notify_one();
    any = true;
  }
  return any;
}

void Lines::cancel() {
  MutexLock lock(mu);
  cancelled_ = true;
  for (Line* const line : {&puts_, &takes_}) {
    for (Waiter* const waiter : *line) {
      waiter->outcome = Pass::cancelled;
      waiter->ended.notify_one();
    }
    line->clear();
  }
}

int64_t Lines::waiting(Side side) {
  MutexLock lock(mu);
  return std::ssize(line(side));
}

Error wait_error(std::string_view operation, Pass pass, const Wait& wait, const std::string& state) {
  if (pass == Pass::timed_out) {
    const double milliseconds = std::chrono::duration<double, std::milli>(wait.timeout).count();
    return {ErrorKind::DeadlineExceeded,
            fmt::format("{} operation timed out after {} ms: {}", operation, milliseconds, state)};
  }
  return {ErrorKind::Cancelled,
          fmt::format("{} operation was cancelled: {}; {}", operation,
                      pass == Pass::stopped ? "a stop was requested" : "its last handle is gone", state)};
}

}  // namespace headpond::internal
