// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <stop_token>

#include "headpond/base/thread.h"
#include "headpond/queue/sync/turn_internal.h"

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

bool Turn::enter_by_lock(uint64_t self) {
  uint32_t free = 0;
  if (!line_is_empty() || favourite_inside_.load(std::memory_order_relaxed) != 0 ||
      !taken_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
    return false;
  }
  // A favourite that was made before we took the turn is seen now, and so is one that is being dismissed.
  if (favourite_.load(std::memory_order_acquire) != kNobody || favourite_inside_.load(std::memory_order_acquire) != 0) {
    taken_.store(0, std::memory_order_release);
    asymmetric_fence::light();
    if (!line_is_empty()) serve_line();
    return false;
  }
  held_by_favourite_ = false;
  row_ = last_ == self ? row_ + 1 : 0;
  last_ = self;
  if (row_ >= row_for_favour_) {
    row_ = 0;
    favourite_.store(self, std::memory_order_release);
  }
  return true;
}

// A favourite that is none any more. Somebody may have found it inside and not served the line because of it.
void Turn::step_back() {
  favourite_inside_.store(0, std::memory_order_release);
  asymmetric_fence::light();
  if (!line_is_empty()) serve_line();
}

// Takes the turn, from a favourite too, iff nobody is inside.
bool Turn::claim() {
  constexpr uint32_t kMostRow = 1 << 16;
  uint32_t free = 0;
  if (!taken_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) return false;
  if (favourite_.load(std::memory_order_acquire) != kNobody) {
    favourite_.store(kRevoking, std::memory_order_relaxed);
    hand_over_point();
    // Either the favourite sees that it is none, or we see it inside.
    asymmetric_fence::heavy();
    favourite_.store(kNobody, std::memory_order_release);
    row_for_favour_ = std::min(row_for_favour_ * 2, kMostRow);
    last_ = kNobody;
  }
  if (favourite_inside_.load(std::memory_order_acquire) == 0) {
    held_by_favourite_ = false;
    return true;
  }
  taken_.store(0, std::memory_order_release);
  return false;
}

bool Turn::claim_without_line() {
  if (is_inherited()) return claim();
  MutexLock lock(mu_);
  return first_ == nullptr && claim();
}

Pass Turn::enter(Patience& patience, bool cancellable, WaitCell* waits) {
  if (try_enter() || claim_without_line() || spin_for_holder()) return Pass::go;
  return stand_in_line(patience, cancellable, waits);
}

// A holder at work leaves soon: it only moves elements. A descheduled one does not, hence the limit.
bool Turn::spin_for_holder() {
  constexpr int kRounds = 400;
  for (int i = 0; i < kRounds; ++i) {
    if (is_blocked(blocks_.load(std::memory_order_relaxed)) || !line_is_empty()) return false;
    // A favourite that was made meanwhile, and is outside, keeps nobody waiting.
    if (try_enter() || (!is_busy() && claim_without_line())) return true;
    spin_pause();
  }
  return false;
}

Pass Turn::stand_in_line(Patience& patience, bool cancellable, WaitCell* waits) {
  InLine self(cancellable);
  if (is_reported_here() || !patience.begin_wait()) return Pass::abandoned;
  const uint32_t blocks = blocks_.load(std::memory_order_acquire);
  const int64_t start = now_ns();
  append(self);
  // Either the holder that leaves sees the line, or we see the turn free.
  asymmetric_fence::heavy();
  serve_line();
  {
    std::stop_callback on_stop(patience.stop(), [&self] { self.signal.raise(); });
    const auto raised = [&self] { return self.signal.is_raised(); };
    if (!spin_until(raised, only_cpu() >= 0)) self.signal.wait(patience.deadline());
  }
  const bool gave_up = remove(self);
  // Behind calls that were at work all the time it is not the other side that was waited for.
  const bool was_blocked = is_blocked(blocks) || blocks_.load(std::memory_order_acquire) != blocks;
  if (was_blocked && waits != nullptr) patience.count_wait(*waits, now_ns() - start);
  if (!gave_up) return self.verdict.load(std::memory_order_acquire);
  return patience.stop_requested() ? Pass::stopped : Pass::timed_out;
}

void Turn::append(InLine& waiter) {
  MutexLock lock(mu_);
  waiter.linked = true;
  waiter.before = final_;
  (final_ != nullptr ? final_->after : first_) = &waiter;
  final_ = &waiter;
  line_length_.fetch_add(1, std::memory_order_release);
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
  (waiter.after != nullptr ? waiter.after->before : final_) = waiter.before;
  waiter.linked = false;
  line_length_.fetch_sub(1, std::memory_order_release);
}

// A favourite finds its way in open, be it inside or not: so there must be none.
void Turn::begin_report() {
  if (held_by_favourite_) {
    for (uint32_t free = 0; !taken_.compare_exchange_strong(free, 1, std::memory_order_acquire); free = 0) {
      spin_pause();  // Somebody looks whether it is free.
    }
    favourite_.store(kNobody, std::memory_order_release);
    last_ = kNobody;
    held_by_favourite_ = false;
    favourite_inside_.store(0, std::memory_order_release);
  }
  reporter_.store(this_thread(), std::memory_order_release);
}

// If the turn is not free, its holder will see the line when it leaves.
void Turn::serve_line() {
  if (is_inherited()) return;
  hand_over_point();
  MutexLock lock(mu_);
  if (first_ == nullptr || !claim()) return;
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
