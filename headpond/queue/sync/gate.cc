// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <stop_token>

#include "headpond/queue/sync/gate_internal.h"

namespace headpond {

void Gate::wake(Side& sleeper) {
  if (sleeper.parked.exchange(false, std::memory_order_acq_rel)) sleeper.signal.raise();
}

// Whoever saw the lower position finds the count odd or new when it puts, and does not trust what was seen before.
void Gate::give_back(int64_t count) {
  take_.own -= count;
  returns_.fetch_add(1, std::memory_order_acq_rel);
  hand_over_point();
  take_.position.store(take_.own, std::memory_order_release);
  hand_over_point();
  returns_.fetch_add(1, std::memory_order_seq_cst);
}

// Whether the holder of the side's turn waits for something that has not come: one that only has to wake up does not.
bool Gate::must_wait(const Side& side, const Side& other) const {
  return side.turn.is_blocked() &&
         other.position.load(std::memory_order_acquire) < side.awaited.load(std::memory_order_relaxed) &&
         state_.load(std::memory_order_acquire) == State::open;
}

// What earlier calls have brought about counts as done, also for a call without patience: it stands in line, a moment
// at a time, behind those who need not wait themselves, nor report that they do.
Pass Gate::enter(Side& side, const Side& other, Patience& patience, bool cancellable) {
  if (!patience.is_none()) return side.turn.enter(patience, cancellable, &side.waits);
  if (!patience.begin_wait()) return Pass::abandoned;
  const Wait moment{.timeout = std::chrono::microseconds(100)};
  while (!must_wait(side, other) && !side.turn.is_reporting()) {
    Patience brief(moment);
    if (const Pass pass = side.turn.enter(brief, cancellable); pass != Pass::timed_out) return pass;
  }
  return Pass::timed_out;
}

// Whether `side` gets ready because a call on the other side goes on that has what it waited for, or is at work.
// Limited, since such a call may bring something else.
bool Gate::soon(const Side& side, const Side& other, Patience& patience, auto ready) const {
  for (const int64_t end = patience.deadline(); other.turn.is_busy() && !must_wait(other, side) && now_ns() < end;) {
    if (ready()) return true;
    sched_yield();
  }
  return ready();
}

Pass Gate::begin_put_slow(Patience& patience) {
  if (state_.load(std::memory_order_acquire) != State::open) return Pass::closed;
  if (const Pass pass = enter(put_, take_, patience, true); pass != Pass::go) return pass;
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::open) return Pass::go;
  end_put();
  return state == State::closed ? Pass::closed : Pass::cancelled;
}

Pass Gate::await_room_slow(Patience& patience) {
  // A put that began before close() may still end; only close_and_cancel() ends its wait.
  Pass result = Pass::go;
  const Pass pass = await(put_, take_, put_.own - capacity_ + 1, patience, [&] {
    result = state_.load(std::memory_order_acquire) == State::open ? Pass::go : Pass::cancelled;
    return result == Pass::cancelled || room() > 0;
  });
  return pass == Pass::go ? result : pass;
}

Pass Gate::await_takes(const std::function<bool()>& fits, Patience& patience) {
  Pass result = Pass::go;
  const Pass pass = await(put_, take_, take_count() + 1, patience, [&] {
    result = state_.load(std::memory_order_acquire) == State::open ? Pass::go : Pass::cancelled;
    return result == Pass::cancelled || fits();
  });
  return pass == Pass::go ? result : pass;
}

Pass Gate::await_obtainable_slow(int64_t least, Patience& patience) {
  Pass result = Pass::go;
  const int64_t before = take_.own + minimum_;
  const int64_t awaited = least <= INT64_MAX - before ? before + least : INT64_MAX;
  const Pass pass = await(take_, put_, awaited, patience, [&] {
    const bool final = is_closed();
    const int64_t can_have = inside() - (final ? 0 : minimum_);
    result = can_have >= least ? Pass::go : Pass::closed;
    return can_have >= least || final;
  });
  return pass == Pass::go ? result : pass;
}

// Most waits are over before a question to the system would be. Each look takes the other side's cache line away from
// it, and whoever follows close behind the other has its hardware prefetch the very lines that the other writes. So a
// side that found little since its last wait looks later: meanwhile the other does several steps at full speed. For the
// same reason a side that finds something lingers, once, for about as long as the rest of half a ring takes.
bool Gate::glance(Side& side, const Side& other, int64_t awaited, auto ready) const {
  constexpr int kLooks = 16;
  constexpr int kMostPauses = 64;
  const int64_t enough = capacity_ < 0 ? 64 : std::min<int64_t>(64, capacity_ / 2);
  side.pauses =
      side.own - side.own_at_wait < enough ? std::min(side.pauses * 2, kMostPauses) : std::max(side.pauses / 2, 1);
  side.own_at_wait = side.own;
  for (int look = 0; look < kLooks; ++look) {
    for (int pause = side.pauses; pause > 0; --pause) spin_pause();
    if (!ready()) continue;
    const int64_t found = other.position.load(std::memory_order_relaxed) - awaited + 1;
    for (int64_t lacks = std::min(enough, enough - found); lacks > 0; --lacks) spin_pause();
    return ready();
  }
  return false;
}

Pass Gate::await(Side& side, const Side& other, int64_t awaited, Patience& patience, auto ready) {
  if (ready()) return Pass::go;
  if (patience.is_none()) return soon(side, other, patience, ready) ? Pass::go : Pass::timed_out;
  side.awaited.store(awaited, std::memory_order_relaxed);
  side.turn.set_blocked(true);
  const int64_t start = now_ns();
  const bool is_ready = glance(side, other, awaited, ready);
  Pass pass = Pass::go;
  if (!is_ready) {
    side.cpu.store(current_cpu(), std::memory_order_relaxed);
    const int only = only_cpu();
    const bool same_cpu = only >= 0 && only == other.cpu.load(std::memory_order_relaxed);
    if (!spin_until(ready, same_cpu)) pass = sleep(side, other, patience, ready);
  }
  patience.count_wait(side.waits, now_ns() - start);
  side.turn.set_blocked(false);
  return pass;
}

Pass Gate::sleep(Side& side, const Side& other, Patience& patience, auto ready) {
  if (!patience.begin_wait()) return Pass::abandoned;
  side.asleep.store(true, std::memory_order_release);
  const Pass pass = sleep_until(side, other, patience, ready);
  side.asleep.store(false, std::memory_order_relaxed);
  side.stall.left = now_ns();
  return pass;
}

Pass Gate::sleep_until(Side& side, const Side& other, Patience& patience, auto ready) {
  const int64_t deadline = patience.deadline();
  const auto position = [&other] { return other.position.load(std::memory_order_acquire); };
  std::stop_callback on_stop(patience.stop(), [&side] { side.signal.raise(); });
  while (true) {
    side.signal.reset();
    side.parked.store(true, std::memory_order_relaxed);
    // Either the other side sees the flag, or we see what it did.
    asymmetric_fence::heavy();
    const int64_t alarm = patience.alarm(side.stall, position());
    if (!ready() && !patience.stop_requested()) side.signal.wait(std::min(deadline, alarm));
    side.parked.store(false, std::memory_order_relaxed);
    if (ready()) return Pass::go;
    if (patience.stop_requested()) return Pass::stopped;
    if (now_ns() < std::min(deadline, alarm)) continue;  // Too little came, however often.
    if (deadline <= alarm) return Pass::timed_out;
    const int64_t missing = side.awaited.load(std::memory_order_relaxed) - position();
    if (position() == side.stall.position && look_into(side, missing, patience)) {
      return ready() ? Pass::go : Pass::abandoned;  // The report took time, and may have brought about what it missed.
    }
  }
}

// The report may come to code of anybody, which may close the gate.
bool Gate::look_into(Side& side, int64_t missing, Patience& patience) {
  side.turn.begin_report();
  // Either close_and_cancel() sees the report and does not wait for this turn, or the close is seen here.
  asymmetric_fence::heavy();
  const bool is_closing = &side == &put_ && refuses_puts();
  const bool gives_up = !is_closing && patience.look_into(side.stall, missing);
  side.turn.end_report();
  return gives_up;
}

// Here is nobody to end, nor to wake: all who waited are in the process that made the gate.
bool Gate::close_inherited(State to) {
  const State state = state_.load(std::memory_order_acquire);
  if (state < State::closed) state_.store(to, std::memory_order_release);
  return state == State::open;
}

bool Gate::close() {
  if (is_inherited()) return close_inherited(State::closed);
  if (state_.load(std::memory_order_acquire) != State::open) return false;
  const Wait for_ever;
  Patience patience(for_ever);
  if (put_.turn.enter(patience, true) != Pass::go) return true;  // Overtaken by close_and_cancel().
  State state = State::open;
  state_.compare_exchange_strong(state, State::closed, std::memory_order_acq_rel);
  end_put();
  asymmetric_fence::heavy();
  wake(take_);
  return state != State::closed;
}

void Gate::close_and_cancel() {
  if (is_inherited()) {
    close_inherited(State::cancelled);
    return;
  }
  State state = State::open;
  if (!state_.compare_exchange_strong(state, State::cancelling, std::memory_order_acq_rel) && state >= State::closed)
    return;
  asymmetric_fence::heavy();
  put_.turn.cancel_line();
  wake(put_);
  // Nobody waits on the put side now, and nobody new will: the turn comes soon. Under it, no put is half done.
  // One that reports is not half done, and will see the state before it is.
  const Wait for_ever;
  Patience patience(for_ever);
  const bool has_turn = !put_.turn.is_reporting() && put_.turn.enter(patience, false) == Pass::go;
  state = State::cancelling;
  state_.compare_exchange_strong(state, State::cancelled, std::memory_order_acq_rel);
  if (has_turn) end_put();
  asymmetric_fence::heavy();
  wake(take_);
}

}  // namespace headpond
