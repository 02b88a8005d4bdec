// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <functional>
#include <stop_token>

#include "headpond/base/thread.h"
#include "headpond/queue/sync/biased_lock_internal.h"

namespace headpond {

// Lives on the stack of its call. The thread that unlinks it, under mu_, writes the verdict and then raises the signal.
// After that it touches nothing here.
struct BiasedLock::Waiter {
  explicit Waiter(bool may_cancel) : cancellable(may_cancel) {}

  const bool cancellable;
  std::atomic<WaitResult> verdict = WaitResult::timed_out;  // Valid when another thread has unlinked this.
  bool linked = false;                                      // Guarded by mu_, like the two below.
  Waiter* before = nullptr;
  Waiter* after = nullptr;
  Signal signal;
};

bool BiasedLock::try_take() {
  uint32_t free = 0;
  return taken_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
}

// Meanwhile another thread may have found the lock taken, and queued up.
void BiasedLock::give_back() {
  taken_.store(0, std::memory_order_release);
  if (is_crowded()) asymmetric_fence::full();
  asymmetric_fence::light();
  if (has_waiters()) serve_waiters();
}

void BiasedLock::calm_down() {
  calm_ = has_waiters() ? 0 : calm_ + 1;
  if (calm_ < HEADPOND_CALM_AFTER) return;
  calm_ = 0;
  crowded_.store(false, std::memory_order_relaxed);
  hand_over_point();
  // A call that still sees the mark has joined the waiters by now: whoever lets go of the lock from here on sees it.
  asymmetric_fence::full();
}

bool BiasedLock::enter_by_lock(OwnerCell& self) {
  const auto is_open = [&] {
    const OwnerCell* const owner = owner_.load(std::memory_order_relaxed);
    return owner == nullptr || (owner == &self && self.inside.load(std::memory_order_relaxed) != this);
  };
  if (has_waiters() || !is_open() || !try_take()) return false;
  if (!is_open()) {  // A thread became the owner before we took the lock.
    give_back();
    return false;
  }
  row_ = last_ == &self ? row_ + 1 : 0;
  last_ = &self;
  // An owner comes here when its cell is occupied. It stays the owner: it is not inside by its cell, and no other
  // thread can take the lock.
  if (row_ >= row_for_owner_ && self.may_own && self.inside.load(std::memory_order_relaxed) == nullptr) {
    row_ = 0;
    owner_.store(&self, std::memory_order_release);
  }
  return true;
}

// For a thread that lost the lock while it tried to enter as its owner, or that found waiters. A revoking thread may
// have seen it inside, and left the waiters to it.
void BiasedLock::step_back(OwnerCell& self) {
  self.inside.store(nullptr, std::memory_order_release);
  if (is_crowded()) asymmetric_fence::full();
  asymmetric_fence::light();
  if (has_waiters()) serve_waiters();
}

// Takes the lock iff nobody holds it. The owner is no longer the owner then.
bool BiasedLock::claim() {
  if (!try_take()) return false;
  OwnerCell* const owner = owner_.load(std::memory_order_relaxed);
  if (owner == nullptr || revoke(*owner)) return true;
  taken_.store(0, std::memory_order_release);
  return false;
}

// Returns false iff the owner is inside: it stays the owner, and serves the waiters when it leaves. Under taken_.
bool BiasedLock::revoke(OwnerCell& owner) {
  constexpr uint32_t kMostRow = 1 << 16;
  const auto is_inside = [&] { return owner.inside.load(std::memory_order_acquire) == this; };
  if (is_inside()) return false;
  owner_.store(nullptr, std::memory_order_relaxed);
  hand_over_point();
  // Either the former owner sees that it was revoked, or we see it inside.
  asymmetric_fence::heavy();
  if (is_inside()) {
    owner_.store(&owner, std::memory_order_release);
    return false;
  }
  row_for_owner_ = std::min(row_for_owner_ * 2, kMostRow);
  last_ = nullptr;
  return true;
}

bool BiasedLock::claim_without_waiters() {
  MutexLock lock(mu_);
  return first_ == nullptr && claim();
}

WaitResult BiasedLock::enter(WaitContext& context, bool cancellable, WaitCell* waits) {
  if (try_enter() || enter_before_sleeping()) return WaitResult::go;
  return wait(context, cancellable, waits);
}

bool BiasedLock::enter_before_waiters() {
  if (try_enter()) return true;
  // An owner that is outside keeps nobody waiting.
  if (is_busy() || !claim_without_waiters()) return false;
  holder_check_.enter();
  return true;
}

// A holder that works leaves soon: it only moves elements. If it does not, or if it is blocked, the thread that
// everyone waits for may be one without a processor, and gets this one. A call that joined the waiters instead would
// sleep, and then each element would wait until a sleeping thread runs: with two threads a side on two processors that
// took 1 to 40 microseconds an element instead of 0.1.
bool BiasedLock::enter_before_sleeping() {
  constexpr int kRounds = 400;
  for (int i = 0; i < kRounds && !has_waiters() && !is_blocked(blocks_.load(std::memory_order_relaxed)); ++i) {
    if (enter_before_waiters()) return true;
    spin_pause();
  }
  for (const int64_t end = now_ns() + wake_time_ns(); !has_waiters() && now_ns() < end;) {
    if (enter_before_waiters()) return true;
    sched_yield();
  }
  return false;
}

// A waiter that gets the lock while it sleeps delays all later waiters by one wake time. If every waiter slept after
// one wake time, all of them would always be asleep, because several others are served before each. So a waiter stays
// awake while others are served.
bool BiasedLock::spin_for_verdict(const Waiter& self, int64_t deadline) const {
  constexpr int kQuiet = 2, kMost = 16;  // Wake times without a waiter that was served, and in all.
  if (only_cpu() >= 0) return self.signal.is_raised();
  const int64_t wake_ns = wake_time_ns(), start = now_ns();
  uint32_t served = served_.load(std::memory_order_relaxed);
  const int64_t end = std::min(deadline, start + kMost * wake_ns);
  for (int64_t now = start, moved = start; now - moved < kQuiet * wake_ns && now < end;) {
    for (int i = 0; i < 8; ++i) {
      if (self.signal.is_raised()) return true;
      spin_pause();
    }
    sched_yield();
    now = now_ns();
    if (served_.load(std::memory_order_relaxed) != served) moved = now;
    served = served_.load(std::memory_order_relaxed);
  }
  return self.signal.is_raised();
}

WaitResult BiasedLock::wait(WaitContext& context, bool cancellable, WaitCell* waits) {
  Waiter self(cancellable);
  context.begin_wait();
  const uint32_t blocks = blocks_.load(std::memory_order_acquire);
  const int64_t start = now_ns();
  append(self);
  // Either the holder sees a waiter when it leaves, or we see that the lock is free.
  asymmetric_fence::full();
  if (!is_crowded()) {
    crowded_.store(true, std::memory_order_relaxed);
    asymmetric_fence::heavy();
  }
  serve_waiters();
  {
    std::stop_callback on_stop(context.stop(), [&self] { self.signal.raise(); });
    if (!spin_for_verdict(self, context.deadline())) self.signal.wait(context.deadline());
  }
  const bool gave_up = remove(self);
  // A call that waited only for holders at work did not wait for the other side.
  const bool was_blocked = is_blocked(blocks) || blocks_.load(std::memory_order_acquire) != blocks;
  const WaitResult verdict = gave_up ? WaitResult::timed_out : self.verdict.load(std::memory_order_acquire);
  if (verdict == WaitResult::go) holder_check_.enter();
  if (was_blocked && waits != nullptr) context.count_wait(*waits, verdict == WaitResult::go, start, now_ns());
  if (!gave_up) return verdict;
  return context.stop_requested() ? WaitResult::stopped : WaitResult::timed_out;
}

void BiasedLock::append(Waiter& waiter) {
  MutexLock lock(mu_);
  waiter.linked = true;
  waiter.before = last_waiter_;
  (last_waiter_ != nullptr ? last_waiter_->after : first_) = &waiter;
  last_waiter_ = &waiter;
  waiters_.fetch_add(1, std::memory_order_release);
}

// False iff another thread unlinked the waiter, and gave it a verdict.
bool BiasedLock::remove(Waiter& waiter) {
  MutexLock lock(mu_);
  if (!waiter.linked) return false;
  unlink(waiter);
  return true;
}

void BiasedLock::unlink(Waiter& waiter) {
  (waiter.before != nullptr ? waiter.before->after : first_) = waiter.after;
  (waiter.after != nullptr ? waiter.after->before : last_waiter_) = waiter.before;
  waiter.linked = false;
  waiters_.fetch_sub(1, std::memory_order_release);
}

// If the lock is not free, its holder will see the waiters when it leaves.
void BiasedLock::serve_waiters() {
  hand_over_point();
  MutexLock lock(mu_);
  if (first_ == nullptr || !claim()) return;
  Waiter& next = *first_;
  unlink(next);
  served_.fetch_add(1, std::memory_order_relaxed);
  next.verdict.store(WaitResult::go, std::memory_order_release);
  next.signal.raise();
}

void BiasedLock::cancel_waiters() {
  MutexLock lock(mu_);
  for (Waiter* waiter = first_; waiter != nullptr;) {
    Waiter& each = *waiter;
    waiter = each.after;
    if (!each.cancellable) continue;
    unlink(each);
    each.verdict.store(WaitResult::cancelled, std::memory_order_release);
    each.signal.raise();
  }
}

}  // namespace headpond
