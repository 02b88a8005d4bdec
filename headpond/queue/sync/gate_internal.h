// SPDX-License-Identifier: Apache-2.0
// The one place in Headpond where threads wait for elements or for room. It counts; its user stores the elements.
//
// It has two sides, put and take. A call holds the lock of its side from begin to end, also while it waits for the
// other side; later calls wait for the lock. So under its lock each side is a single thread, and the user may store
// elements without further locks, as in a ring with one writer and one reader. A call wakes the other side only if that
// sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "headpond/base/thread.h"
#include "headpond/queue/sync/biased_lock_internal.h"
#include "headpond/queue/sync/signal_internal.h"
#include "headpond/queue/sync/wait_cell_internal.h"

namespace headpond {

class Gate {
 public:
  /// `capacity` < 0: unbounded. While the gate is open, the last `minimum` elements cannot be taken.
  Gate(int64_t capacity, int64_t minimum) : capacity_(capacity), minimum_(minimum) {}

  /// Takes the put side's lock; iff it returns go, the caller must call end_put(). A call with timeout 0 waits for
  /// calls that can go on, but not for those that must wait themselves.
  WaitResult begin_put(WaitContext& context);
  /// go iff room() > 0. Under the put lock.
  WaitResult await_room(WaitContext& context) { return room() > 0 ? WaitResult::go : await_room_slow(context); }
  /// go iff `fits` returns true, which is called again after each take. Under the put lock.
  WaitResult await_takes(const std::function<bool()>& fits, WaitContext& context);
  /// How many elements may be put without waiting, at least. Under the put lock.
  int64_t room();
  /// The same without looking at the take side; at least one after await_room(). Under the put lock.
  int64_t known_room() const { return capacity_ < 0 ? INT64_MAX : capacity_ - (put_.own - put_.seen); }
  /// `count` more elements are in. Under the put lock, after they were stored.
  void commit_put(int64_t count) { commit(put_, count, take_); }
  void end_put() { put_.lock.leave(); }

  /// The same for the take side.
  WaitResult begin_take(WaitContext& context);
  /// go iff obtainable() >= `least`; closed iff it never will be. Under the take lock.
  WaitResult await_obtainable(int64_t least, WaitContext& context) {
    return take_.seen - take_.own - minimum_ >= least ? WaitResult::go : await_obtainable_slow(least, context);
  }
  /// How many elements may be taken without waiting, at least. Under the take lock.
  int64_t obtainable();
  /// Elements known to be inside without looking at the put side; there may be more. Under the take lock.
  int64_t known_inside() const { return take_.seen - take_.own; }
  /// All elements inside, those below the minimum too; the user may reach each of them. Under the take lock.
  int64_t inside() {
    take_.seen = put_.position.load(std::memory_order_acquire);
    return take_.seen - take_.own;
  }
  void commit_take(int64_t count) { commit(take_, count, put_); }
  /// Elements inside as the call found them that has just taken `count` of them, or takes next if that is 0; if it
  /// waited, when its wait began. What others put since is counted with them, up to the capacity. Under the take lock.
  int64_t found_by_take(int64_t count) const {
    if (take_.found_from == take_.own - count) return take_.found_at_wait;
    const int64_t found = put_count() - take_.own + count;
    return capacity_ < 0 ? found : std::min(found, capacity_);
  }
  /// Takes `count` elements back that were committed as taken, even beyond the capacity. Under the take lock.
  void give_back(int64_t count);
  void end_take() { take_.lock.leave(); }

  /// Closes after all puts that wait now. Returns false iff the gate was closed before this call had the lock, except
  /// by close_and_cancel() during the call.
  bool close();
  /// Closes at once; puts that wait end as cancelled.
  void close_and_cancel();
  /// No element will be added to those inside.
  bool is_closed() const { return state_.load(std::memory_order_acquire) >= State::closed; }
  /// No put begins any more; one that began before may still be running.
  bool refuses_puts() const { return state_.load(std::memory_order_acquire) != State::open; }

  /// Elements that were put, and that were taken, without an access to what the other side reads: that side may have
  /// the cache line. Each under its lock.
  int64_t own_put_count() const { return put_.own; }
  int64_t own_take_count() const { return take_.own; }
  int64_t put_count() const { return put_.position.load(std::memory_order_acquire); }
  int64_t take_count() const { return take_.position.load(std::memory_order_acquire); }
  /// Calls that wait for the lock, and its holder if it sleeps.
  int64_t waiting_puts() const { return waiting(put_); }
  int64_t waiting_takes() const { return waiting(take_); }
  const WaitCell& put_waits() const { return put_.waits; }
  const WaitCell& take_waits() const { return take_.waits; }

 private:
  // cancelling: no put begins or waits any more, but one may still be running; cancelled: closed that way.
  enum class State : uint8_t { open, cancelling, closed, cancelled };

  // Grouped by cache line: a side's own, what the other side reads, and what is written only around a sleep.
  struct Side {
    alignas(64) BiasedLock lock;
    int64_t own = 0;   // position, without an atomic access.
    int64_t seen = 0;  // The other side's position when last read.
    int64_t seen_returns = 0;
    int64_t own_at_wait = 0;
    // Of the take side: where the last wait began that got what it waited for, and how many were inside at that time.
    int64_t found_from = -1, found_at_wait = 0;
    int pauses = 1;
    Stall stall;
    WaitCell waits;
    alignas(64) std::atomic<int64_t> position = 0;
    alignas(64) std::atomic<bool> parked = false;  // The lock's holder is about to sleep on `signal`.
    std::atomic<int64_t> awaited = 0;              // The other side's position that the blocked holder waits for.
    std::atomic<int> cpu = -1;                     // Where it last waited.
    std::atomic<bool> asleep = false;              // The holder sleeps, or is about to.
    Signal signal;
  };

  static int64_t waiting(const Side& side) {
    return side.lock.waiters() + (side.asleep.load(std::memory_order_acquire) ? 1 : 0);
  }

  static void commit(Side& side, int64_t count, Side& other) {
    side.own += count;
    hand_over_point();
    side.position.store(side.own, std::memory_order_release);
    asymmetric_fence::light();
    if (other.parked.load(std::memory_order_relaxed)) wake(other);
  }
  static void wake(Side& sleeper);
  WaitResult begin_put_slow(WaitContext& context);
  WaitResult enter(Side& side, const Side& other, WaitContext& context, bool cancellable);
  bool must_wait(const Side& side, const Side& other) const;
  // Closed, and all elements are taken; but a call that is still running may give some back.
  bool is_drained() const { return is_closed() && put_count() == take_count(); }
  WaitResult await_room_slow(WaitContext& context);
  WaitResult await_obtainable_slow(int64_t least, WaitContext& context);
  bool soon(const Side& side, const Side& other, WaitContext& context, auto ready) const;
  bool glance(Side& side, const Side& other, int64_t awaited, auto ready) const;
  WaitResult await(Side& side, const Side& other, int64_t awaited, WaitContext& context, auto ready);
  WaitResult sleep(Side& side, const Side& other, WaitContext& context, auto ready);
  WaitResult sleep_until(Side& side, const Side& other, WaitContext& context, auto ready);

  const int64_t capacity_;
  const int64_t minimum_;
  Side put_;
  Side take_;
  // Written seldom, read by both sides.
  alignas(64) std::atomic<State> state_ = State::open;
  // Counts the begins and ends of give_back(): the take position that the put side has seen is then too high.
  std::atomic<int64_t> returns_ = 0;
};

inline WaitResult Gate::begin_put(WaitContext& context) {
  if (context.stop_requested()) return WaitResult::stopped;
  if (!put_.lock.try_enter()) return begin_put_slow(context);
  if (state_.load(std::memory_order_acquire) == State::open) [[likely]]
    return WaitResult::go;
  end_put();
  return WaitResult::closed;
}

inline WaitResult Gate::begin_take(WaitContext& context) {
  if (context.stop_requested()) return WaitResult::stopped;
  return take_.lock.try_enter() ? WaitResult::go : enter(take_, put_, context, false);
}

inline int64_t Gate::room() {
  if (capacity_ < 0) return INT64_MAX;
  const int64_t returns = returns_.load(std::memory_order_acquire);
  if (const int64_t known = capacity_ - (put_.own - put_.seen); known > 0 && returns == put_.seen_returns) return known;
  put_.seen_returns = returns % 2 == 0 ? returns : -1;
  put_.seen = take_.position.load(std::memory_order_acquire);
  return capacity_ - (put_.own - put_.seen);
}

inline int64_t Gate::obtainable() {
  // The state is read first: once closed, the position that is read next is final.
  const int64_t kept = is_closed() ? 0 : minimum_;
  return inside() - kept;
}

}  // namespace headpond
