// SPDX-License-Identifier: Apache-2.0
// A lock that is handed on in order of arrival, that may be held while its holder sleeps, and whose line can be left.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/queue/sync/signal_internal.h"

#if !defined(HEADPOND_ROW_FOR_FAVOUR)  // A test whose threads come a few times each compiles its own copy with less.
#define HEADPOND_ROW_FOR_FAVOUR 8
#endif

namespace headpond {

/// How a wait at a Turn or a Gate ended.
enum class Pass : uint8_t {
  go,
  closed,     ///< Put: closed before this call's turn. Take: closed, and nothing (more) can be had.
  cancelled,  ///< Put: close with cancel ended the wait.
  stopped,    ///< The stop token did.
  timed_out,
  abandoned,  ///< Nobody is there for whom to wait.
};

/// Free and without a line, it is entered with one locked instruction; a thread that entered several times in a row
/// becomes its favourite and enters with none, until another thread comes (biased locking: a locked instruction waits
/// until the processor has written everything back, which in a queue means a cache line's way to the other side and
/// back). Whoever finds the turn taken spins while the holder is at work, and stands in line while the holder is
/// blocked or takes long.
class Turn {
 public:
  /// Enters iff the turn is free and nobody stands in line; may refuse to a thread that is not the favourite.
  bool try_enter() {
    const uint64_t self = this_thread();
    return favourite_.load(std::memory_order_relaxed) == self ? enter_as_favourite(self) : enter_by_lock(self);
  }
  /// Waits for the turn. cancel_line() ends the wait of those that are `cancellable`. Counts waits in line, behind
  /// calls that were blocked.
  Pass enter(Patience& patience, bool cancellable, WaitCell* waits = nullptr);
  /// REQUIRES: the calling thread entered.
  void leave() {
    hand_over_point();
    (held_by_favourite_ ? favourite_inside_ : taken_).store(0, std::memory_order_release);
    asymmetric_fence::light();
    if (!line_is_empty()) serve_line();
  }
  /// The holder says whether it waits for something else than the processor.
  void set_blocked(bool blocked) {
    const uint32_t before = blocks_.load(std::memory_order_relaxed);
    if (is_blocked(before) != blocked) blocks_.store(before + 1, std::memory_order_release);
  }
  bool is_blocked() const { return is_blocked(blocks_.load(std::memory_order_acquire)); }
  /// Somebody is inside, was just let in, or stands in line.
  bool is_busy() const {
    return line_length_.load(std::memory_order_acquire) != 0 || taken_.load(std::memory_order_relaxed) != 0 ||
           favourite_inside_.load(std::memory_order_relaxed) != 0;
  }
  /// Sends those who stand in line and are cancellable away.
  void cancel_line();
  /// Calls that stand in line.
  int64_t line_length() const { return line_length_.load(std::memory_order_acquire); }
  /// Between the two the blocked holder calls what may call back. What stands in line then, from the same thread, is
  /// abandoned; others may go past a holder that is_reporting(), as it looks around before it does anything else.
  void begin_report();
  void end_report() { reporter_.store(kNobody, std::memory_order_release); }
  bool is_reporting() const { return reporter_.load(std::memory_order_acquire) != kNobody; }
  bool is_reported_here() const { return reporter_.load(std::memory_order_relaxed) == this_thread(); }
  /// This process is the child of a fork() behind which it lies. Whoever was inside, in line or at the lock then is so
  /// for ever: here a free turn may be entered, but not waited for.
  bool is_inherited() const { return forks_ != forks_above(); }

 private:
  struct InLine;
  static constexpr uint64_t kNobody = 0;
  static constexpr uint64_t kRevoking = 1;  // No thread's number.

  static uint64_t this_thread();
  static bool is_blocked(uint32_t blocks) { return blocks % 2 != 0; }
  bool line_is_empty() const { return line_length_.load(std::memory_order_relaxed) == 0; }
  bool enter_as_favourite(uint64_t self);
  bool enter_by_lock(uint64_t self);
  void step_back();
  bool claim();
  bool claim_without_line();
  bool spin_for_holder();
  Pass stand_in_line(Patience& patience, bool cancellable, WaitCell* waits);
  void append(InLine& waiter);
  bool remove(InLine& waiter);
  void unlink(InLine& waiter) HEADPOND_REQUIRES(mu_);
  void serve_line();

  // The turn is held by whoever set taken_ from 0 to 1, or by the favourite while favourite_inside_ is 1; never by
  // both: favourite_ changes only under taken_, and who takes the turn from a favourite runs a heavy fence before it
  // looks inside.
  std::atomic<uint32_t> taken_ = 0;
  std::atomic<uint32_t> favourite_inside_ = 0;  // Written by the favourite alone.
  std::atomic<uint64_t> favourite_ = kNobody;
  std::atomic<int32_t> line_length_ = 0;
  std::atomic<uint32_t> blocks_ = 0;  // Grows when a holder gets blocked, and when it goes on.
  std::atomic<uint64_t> reporter_ = kNobody;
  // Under the turn.
  bool held_by_favourite_ = false;
  uint64_t last_ = kNobody;  // Who entered last by the lock,
  uint32_t row_ = 0;         // how often in a row,
  // and what makes a favourite; doubles each time one is dismissed.
  uint32_t row_for_favour_ = HEADPOND_ROW_FOR_FAVOUR;

  alignas(64) Mutex mu_;
  InLine* first_ HEADPOND_GUARDED_BY(mu_) = nullptr;
  InLine* final_ HEADPOND_GUARDED_BY(mu_) = nullptr;
  const int forks_ = forks_above();
};

inline uint64_t Turn::this_thread() {
  static std::atomic<uint64_t> numbers = kRevoking;
  constinit thread_local uint64_t number = 0;
  if (number == 0) [[unlikely]]
    number = numbers.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

inline bool Turn::enter_as_favourite(uint64_t self) {
  favourite_inside_.store(1, std::memory_order_relaxed);
  hand_over_point();
  asymmetric_fence::light();
  if (favourite_.load(std::memory_order_relaxed) == self && line_is_empty()) [[likely]] {
    held_by_favourite_ = true;
    return true;
  }
  step_back();
  return false;
}

}  // namespace headpond
