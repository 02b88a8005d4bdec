// SPDX-License-Identifier: Apache-2.0
// A lock that serves its waiters in order of arrival. Its holder may sleep while it holds the lock, and its waiters may
// give up.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/queue/sync/holder_check_internal.h"
#include "headpond/queue/sync/owner_cell_internal.h"
#include "headpond/queue/sync/signal_internal.h"

// Both less in tests, whose threads come only a few times.
#if !defined(HEADPOND_ROW_FOR_OWNER)
#if defined(HEADPOND_INJECT)
#define HEADPOND_ROW_FOR_OWNER 1
#else
#define HEADPOND_ROW_FOR_OWNER 8
#endif
#endif
#if !defined(HEADPOND_CALM_AFTER)
#if defined(HEADPOND_INJECT)
#define HEADPOND_CALM_AFTER 2
#else
#define HEADPOND_CALM_AFTER 64
#endif
#endif

namespace headpond {

/// How a wait for a BiasedLock, or at a Gate, ended.
enum class WaitResult : uint8_t {
  go,
  closed,     ///< Put: closed before this call had the lock. Take: closed, and nothing (more) can be had.
  cancelled,  ///< Put: a close with cancel ended the wait.
  stopped,    ///< The stop token did.
  timed_out,
  abandoned,  ///< Nobody is left who could end the wait.
};

/// A thread that entered several times in a row becomes the lock's owner. An owner enters and leaves by plain stores to
/// its own OwnerCell, until another thread wants the lock (biased locking). Without an owner the lock is entered by one
/// locked instruction, and that waits until the processor has written all earlier stores back: in a queue, until a
/// cache line has travelled to the other side and back.
///
/// A thread that finds the lock taken spins while its holder runs, lets other threads run if the holder is blocked or
/// slow, and joins the waiters after about one wake time. From then on no later call overtakes it.
class BiasedLock {
 public:
  /// Enters iff the lock is free and has no waiters; may refuse to a thread that is not the owner.
  bool try_enter() {
    OwnerCell& self = OwnerCell::of_this_thread();
    const bool is_entered =
        owner_.load(std::memory_order_relaxed) == &self ? enter_as_owner(self) : enter_by_lock(self);
    if (is_entered) holder_check_.enter();
    return is_entered;
  }
  /// Waits for the lock. cancel_waiters() ends the wait of a call that is `cancellable`. `waits` counts waits for
  /// holders that were blocked.
  WaitResult enter(WaitContext& context, bool cancellable, WaitCell* waits = nullptr);
  /// REQUIRES: the calling thread entered.
  void leave() {
    holder_check_.leave();
    if (is_crowded()) [[unlikely]]
      calm_down();
    hand_over_point();
    OwnerCell& self = OwnerCell::of_this_thread();
    if (self.inside.load(std::memory_order_relaxed) == this) [[likely]] {
      self.inside.store(nullptr, std::memory_order_release);
    } else {
      taken_.store(0, std::memory_order_release);
    }
    if (is_crowded()) [[unlikely]]
      asymmetric_fence::full();
    asymmetric_fence::light();
    if (has_waiters()) serve_waiters();
  }
  /// The holder says whether it waits for something other than the processor.
  void set_blocked(bool blocked) {
    const uint32_t before = blocks_.load(std::memory_order_relaxed);
    if (is_blocked(before) != blocked) blocks_.store(before + 1, std::memory_order_release);
  }
  bool is_blocked() const { return is_blocked(blocks_.load(std::memory_order_acquire)); }
  /// Somebody holds the lock, was just given it, or waits for it.
  bool is_busy() const {
    if (has_waiters() || taken_.load(std::memory_order_relaxed) != 0) return true;
    const OwnerCell* const owner = owner_.load(std::memory_order_acquire);
    return owner != nullptr && owner->inside.load(std::memory_order_relaxed) == this;
  }
  /// Ends the waits of all waiters that are cancellable.
  void cancel_waiters();
  /// Calls that wait.
  int64_t waiters() const { return waiters_.load(std::memory_order_acquire); }

 private:
  struct Waiter;

  static bool is_blocked(uint32_t blocks) { return blocks % 2 != 0; }
  bool has_waiters() const { return waiters_.load(std::memory_order_relaxed) != 0; }
  bool is_crowded() const { return crowded_.load(std::memory_order_acquire); }
  void calm_down();
  bool try_take();
  void give_back();
  bool enter_as_owner(OwnerCell& self);
  bool enter_by_lock(OwnerCell& self);
  void step_back(OwnerCell& self);
  bool claim();
  bool revoke(OwnerCell& owner);
  bool claim_without_waiters();
  bool enter_before_waiters();
  bool enter_before_sleeping();
  bool spin_for_verdict(const Waiter& self, int64_t deadline) const;
  WaitResult wait(WaitContext& context, bool cancellable, WaitCell* waits);
  void append(Waiter& waiter);
  bool remove(Waiter& waiter);
  void unlink(Waiter& waiter) HEADPOND_REQUIRES(mu_);
  void serve_waiters();

  // The lock is held by the thread that set taken_ from 0 to 1, or by the owner while its cell names this lock. It is
  // never held by both: owner_ changes only under taken_, and a thread that takes the lock from its owner clears owner_
  // and runs a heavy fence before it looks at the owner's cell. A former owner may still write its cell. That does no
  // harm, because only the cell of the present owner counts.
  std::atomic<uint32_t> taken_ = 0;
  std::atomic<int32_t> waiters_ = 0;
  std::atomic<OwnerCell*> owner_ = nullptr;
  std::atomic<uint32_t> blocks_ = 0;  // Grows when a holder gets blocked, and when it goes on.
  // Calls wait often: a thread that lets go of the lock runs a full fence, and a call that joins the waiters need not
  // run a heavy one, which interrupts all processors of the process. A waiter that sets this runs the heavy fence and
  // then serves the waiters: also for those who saw the mark sooner. It is cleared under the lock.
  std::atomic<bool> crowded_ = false;
  uint8_t calm_ = 0;                 // Under the lock: how often in a row it was let go without waiters.
  uint32_t row_ = 0;                 // Under taken_: how often last_ entered in a row,
  const OwnerCell* last_ = nullptr;  // the thread that entered last by taken_,
  // and how long a row makes an owner; doubles when an owner is revoked.
  uint32_t row_for_owner_ = HEADPOND_ROW_FOR_OWNER;
  [[no_unique_address]] HolderCheck holder_check_;

  alignas(64) std::atomic<uint32_t> served_ = 0;  // Waiters that got the lock. Waiters that spin read it.
  alignas(64) Mutex mu_;
  Waiter* first_ HEADPOND_GUARDED_BY(mu_) = nullptr;
  Waiter* last_waiter_ HEADPOND_GUARDED_BY(mu_) = nullptr;
};

inline bool BiasedLock::enter_as_owner(OwnerCell& self) {
  // The cell names one lock at a time: a thread that is inside another lock as its owner enters this one by taken_.
  if (self.inside.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    return enter_by_lock(self);
  hand_over_point();
  self.inside.store(this, std::memory_order_release);
  hand_over_point();
  asymmetric_fence::light();
  if (owner_.load(std::memory_order_relaxed) == &self && !has_waiters()) [[likely]]
    return true;
  step_back(self);
  return false;
}

}  // namespace headpond
