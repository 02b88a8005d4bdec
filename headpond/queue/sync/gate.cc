// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <stop_token>

#include "headpond/queue/sync/gate_internal.h"

namespace headpond {

void Gate::wake(Side& sleeper) {
  if (sleeper.parked.exchange(false, std::memory_order_acq_rel)) sleeper.signal.raise();
}

// A producer that saw the higher position finds the count odd or changed before it puts, and reads the position again.
void Gate::give_back(int64_t count) {
  take_.own -= count;
  returns_.fetch_add(1, std::memory_order_acq_rel);
  hand_over_point();
  take_.position.store(take_.own, std::memory_order_release);
  hand_over_point();
  returns_.fetch_add(1, std::memory_order_seq_cst);
}

// Whether the lock's holder waits for something that has not come. One that only has to wake up does not.
bool Gate::must_wait(const Side& side, const Side& other) const {
  return side.lock.is_blocked() &&
         other.position.load(std::memory_order_acquire) < side.awaited.load(std::memory_order_relaxed) &&
         state_.load(std::memory_order_acquire) == State::open;
}

// A call with timeout 0 observes the effects of all earlier calls, although the threads that waited for these effects
// may not have run yet. So it waits for the lock, a moment at a time, as long as the holder need not wait itself, but
// not longer than its deadline: the holder may have much to do. Only if nothing but the holder stands between the call
// and the end does it wait for as long as the holder takes: the end wins over the timeout.
WaitResult Gate::enter(Side& side, const Side& other, WaitContext& context, bool cancellable) {
  if (!context.is_none()) return side.lock.enter(context, cancellable, &side.waits);
  context.begin_wait();
  const Wait moment{.timeout = std::chrono::milliseconds(1), .stop = context.stop()};
  for (const int64_t end = context.deadline();
       !must_wait(side, other) && (now_ns() < end || (&side == &take_ && is_drained()));) {
    WaitContext brief(moment);
    if (const WaitResult waited = side.lock.enter(brief, cancellable); waited != WaitResult::timed_out) return waited;
  }
  return WaitResult::timed_out;
}

// Whether `side` gets ready while a call on the other side runs that need not wait. Limited in time, because that call
// may do something else.
bool Gate::soon(const Side& side, const Side& other, WaitContext& context, auto ready) const {
  for (const int64_t end = context.deadline(); other.lock.is_busy() && !must_wait(other, side) && now_ns() < end;) {
    if (ready()) return true;
    sched_yield();
  }
  return ready();
}

WaitResult Gate::begin_put_slow(WaitContext& context) {
  if (state_.load(std::memory_order_acquire) != State::open) return WaitResult::closed;
  if (const WaitResult waited = enter(put_, take_, context, true); waited != WaitResult::go) {
    return waited == WaitResult::timed_out && refuses_puts() ? WaitResult::closed : waited;
  }
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::open) return WaitResult::go;
  end_put();
  return state == State::closed ? WaitResult::closed : WaitResult::cancelled;
}

WaitResult Gate::await_room_slow(WaitContext& context) {
  // A put that began before close() may still end; only close_and_cancel() ends its wait.
  WaitResult result = WaitResult::go;
  const WaitResult waited = await(put_, take_, put_.own - capacity_ + 1, context, [&] {
    result = state_.load(std::memory_order_acquire) == State::open ? WaitResult::go : WaitResult::cancelled;
    return result == WaitResult::cancelled || room() > 0;
  });
  return waited == WaitResult::go ? result : waited;
}

WaitResult Gate::await_takes(const std::function<bool()>& fits, WaitContext& context) {
  WaitResult result = WaitResult::go;
  const WaitResult waited = await(put_, take_, take_count() + 1, context, [&] {
    result = state_.load(std::memory_order_acquire) == State::open ? WaitResult::go : WaitResult::cancelled;
    put_.awaited.store(take_count() + 1, std::memory_order_relaxed);  // If what was taken is not enough.
    return result == WaitResult::cancelled || fits();
  });
  return waited == WaitResult::go ? result : waited;
}

WaitResult Gate::await_obtainable_slow(int64_t least, WaitContext& context) {
  WaitResult result = WaitResult::go;
  const int64_t before = take_.own + minimum_;
  const int64_t awaited = least <= INT64_MAX - before ? before + least : INT64_MAX;
  const WaitResult waited = await(take_, put_, awaited, context, [&] {
    const bool final = is_closed();
    const int64_t can_have = inside() - (final ? 0 : minimum_);
    result = can_have >= least ? WaitResult::go : WaitResult::closed;
    return can_have >= least || final;
  });
  if (waited != WaitResult::go || result != WaitResult::go) take_.found_from = -1;
  return waited == WaitResult::go ? result : waited;
}

// Most waits end sooner than a system call would. But each look takes the other side's cache line away from it, and a
// reader close after the writer makes the hardware prefetch the lines that the writer is about to write. So a side that
// found little since its last wait looks later: meanwhile the other side does several steps at full speed. For the same
// reason a side that finds something waits once more, for about as long as the rest of half a ring takes.
bool Gate::glance(Side& side, const Side& other, int64_t awaited, auto ready) const {
  constexpr int kLooks = 16;
  constexpr int kMostPauses = 64;
  const int64_t enough = capacity_ < 0 ? 64 : std::min<int64_t>(64, capacity_ / 2);
  side.pauses =
      side.own - side.own_at_wait < enough ? std::min(side.pauses * 2, kMostPauses) : std::max(side.pauses / 2, 1);
  side.own_at_wait = side.own;
  side.found_from = side.own;
  side.found_at_wait = side.seen - side.own;
  for (int look = 0; look < kLooks; ++look) {
    for (int pause = side.pauses; pause > 0; --pause) spin_pause();
    if (!ready()) continue;
    const int64_t found = other.position.load(std::memory_order_relaxed) - awaited + 1;
    for (int64_t lacks = std::min(enough, enough - found); lacks > 0; --lacks) spin_pause();
    return ready();
  }
  return false;
}

WaitResult Gate::await(Side& side, const Side& other, int64_t awaited, WaitContext& context, auto ready) {
  if (ready()) return WaitResult::go;
  if (context.is_none()) return soon(side, other, context, ready) ? WaitResult::go : WaitResult::timed_out;
  side.awaited.store(awaited, std::memory_order_relaxed);
  side.lock.set_blocked(true);
  const int64_t start = now_ns();
  const bool is_ready = glance(side, other, awaited, ready);
  WaitResult waited = WaitResult::go;
  if (!is_ready) {
    side.cpu.store(current_cpu(), std::memory_order_relaxed);
    const int only = only_cpu();
    const bool same_cpu = only >= 0 && only == other.cpu.load(std::memory_order_relaxed);
    if (!spin_until(ready, same_cpu)) waited = sleep(side, other, context, ready);
  }
  context.count_wait(side.waits, true, start, now_ns());
  side.lock.set_blocked(false);
  return waited;
}

WaitResult Gate::sleep(Side& side, const Side& other, WaitContext& context, auto ready) {
  context.begin_wait();
  side.asleep.store(true, std::memory_order_release);
  const WaitResult waited = sleep_until(side, other, context, ready);
  side.asleep.store(false, std::memory_order_relaxed);
  side.stall.left = now_ns();
  return waited;
}

WaitResult Gate::sleep_until(Side& side, const Side& other, WaitContext& context, auto ready) {
  const int64_t deadline = context.deadline();
  const auto position = [&other] { return other.position.load(std::memory_order_acquire); };
  std::stop_callback on_stop(context.stop(), [&side] { side.signal.raise(); });
  while (true) {
    side.signal.reset();
    side.parked.store(true, std::memory_order_relaxed);
    // Either the other side sees the flag, or we see what it did.
    asymmetric_fence::heavy();
    const int64_t alarm = context.alarm(side.stall, position());
    if (!ready() && !context.stop_requested()) side.signal.wait(std::min(deadline, alarm));
    side.parked.store(false, std::memory_order_relaxed);
    if (ready()) return WaitResult::go;
    if (context.stop_requested()) return WaitResult::stopped;
    if (now_ns() < std::min(deadline, alarm)) continue;  // Something came, but too little.
    if (deadline <= alarm) return WaitResult::timed_out;
    const int64_t missing = side.awaited.load(std::memory_order_relaxed) - position();
    if (position() == side.stall.position && context.look_into(side.stall, missing)) {
      return ready() ? WaitResult::go : WaitResult::abandoned;
    }
  }
}

bool Gate::close() {
  if (state_.load(std::memory_order_acquire) != State::open) return false;
  const Wait for_ever;
  WaitContext context(for_ever);
  if (put_.lock.enter(context, true) != WaitResult::go) return true;  // Overtaken by close_and_cancel().
  State state = State::open;
  state_.compare_exchange_strong(state, State::closed, std::memory_order_acq_rel);
  end_put();
  asymmetric_fence::heavy();
  wake(take_);
  return state != State::closed;
}

void Gate::close_and_cancel() {
  State state = State::open;
  if (!state_.compare_exchange_strong(state, State::cancelling, std::memory_order_acq_rel) && state >= State::closed)
    return;
  asymmetric_fence::heavy();
  put_.lock.cancel_waiters();
  wake(put_);
  // No put waits now, and none will: the lock is free soon. While we hold it, no put is running.
  const Wait for_ever;
  WaitContext context(for_ever);
  (void)put_.lock.enter(context, false);
  state = State::cancelling;
  state_.compare_exchange_strong(state, State::cancelled, std::memory_order_acq_rel);
  end_put();
  asymmetric_fence::heavy();
  wake(take_);
}

}  // namespace headpond
