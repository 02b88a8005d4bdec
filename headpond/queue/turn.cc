// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/turn.h"

#include <functional>
#include <stop_token>

namespace headpond {

// Lives on its waiter's stack. Whoever takes it out of the line, under mu_, writes the verdict and raises the signal as
// the last touch.
struct Turn::InLine {
  explicit InLine(bool may_cancel) : cancellable(may_cancel) {}

  const bool cancellable;
  std::atomic<Pass> verdict = Pass::timed_out;  // Valid once the signal is raised and the line was left.
  bool linked = false;                          // Guarded by mu_, like the two below.
  InLine* before = nullptr;
  InLine* after = nullptr;
  Signal signal;
};

Pass Turn::enter(Patience& patience, bool cancellable) {
  if (try_enter() || spin_for_holder()) return Pass::go;
  if (patience.is_none()) return Pass::timed_out;
  return stand_in_line(patience, cancellable);
}

// A holder at work leaves soon: it only moves elements. A descheduled one does not, hence the limit.
bool Turn::spin_for_holder() {
  constexpr int kRounds = 400;
  for (int i = 0; i < kRounds; ++i) {
    if (blocked_.load(std::memory_order_relaxed) || !line_is_empty()) return false;
    if (try_enter()) return true;
    spin_pause();
  }
  return false;
}

Pass Turn::stand_in_line(Patience& patience, bool cancellable) {
  InLine self(cancellable);
  append(self);
  // Either the holder that leaves sees the line, or we see the turn free.
  asymmetric_fence::heavy();
  serve_line();
  {
    std::stop_callback on_stop(patience.stop(), [&self] { self.signal.raise(); });
    const auto raised = [&self] { return self.signal.is_raised(); };
    if (!spin_until(raised, only_cpu() >= 0)) self.signal.wait(patience.deadline());
  }
  if (!remove(self)) return self.verdict.load(std::memory_order_acquire);
  return patience.stop_requested() ? Pass::stopped : Pass::timed_out;
}

void Turn::append(InLine& waiter) {
  MutexLock lock(mu_);
  waiter.linked = true;
  waiter.before = last_;
  (last_ != nullptr ? last_->after : first_) = &waiter;
  last_ = &waiter;
  line_length_.fetch_add(1, std::memory_order_relaxed);
}

// False iff somebody else took the waiter out of the line, with a verdict.
bool Turn::remove(InLine& waiter) {
  MutexLock lock(mu_);
  if (!waiter.linked) return false;
  unlink(waiter);
  return true;
}

void Turn::unlink(InLine& waiter) {
  (waiter.before != nullptr ? waiter.before->after : first_) = waiter.after;
  (waiter.after != nullptr ? waiter.after->before : last_) = waiter.before;
  waiter.linked = false;
  line_length_.fetch_sub(1, std::memory_order_relaxed);
}

// Whoever enters meanwhile without standing in line will see the line when it leaves.
void Turn::serve_line() {
  hand_over_point();
  MutexLock lock(mu_);
  uint32_t free = 0;
  if (first_ == nullptr || !taken_.compare_exchange_strong(free, 1, std::memory_order_acquire)) return;
  InLine& next = *first_;
  unlink(next);
  next.verdict.store(Pass::go, std::memory_order_release);
  next.signal.raise();
}

void Turn::cancel_line() {
  MutexLock lock(mu_);
  for (InLine* waiter = first_; waiter != nullptr;) {
    InLine& each = *waiter;
    waiter = each.after;
    if (!each.cancellable) continue;
    unlink(each);
    each.verdict.store(Pass::cancelled, std::memory_order_release);
    each.signal.raise();
  }
}

}  // namespace headpond
