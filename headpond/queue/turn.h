// SPDX-License-Identifier: Apache-2.0
// A lock that is handed on in order of arrival, that may be held while its holder sleeps, and whose line can be left.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/base/mutex.h"
#include "headpond/queue/signal.h"

namespace headpond {

/// How a wait at a Turn or a Gate ended.
enum class Pass : uint8_t {
  go,
  closed,     ///< Put: closed before this call's turn. Take: closed, and nothing (more) can be had.
  cancelled,  ///< Put: close with cancel ended the wait.
  stopped,    ///< The stop token did.
  timed_out,
};

/// Free and without a line, it costs one locked instruction to enter and none to leave. Whoever finds it taken spins
/// while the holder is at work, and stands in line while the holder is blocked or takes long.
class Turn {
 public:
  /// Enters iff the turn is free and nobody stands in line.
  bool try_enter() {
    uint32_t free = 0;
    return line_is_empty() &&
           taken_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// Waits for the turn. Without patience it waits only while the holder is at work. cancel_line() ends the wait of
  /// those that are `cancellable`.
  Pass enter(Patience& patience, bool cancellable);
  void leave() {
    hand_over_point();
    taken_.store(0, std::memory_order_release);
    asymmetric_fence::light();
    if (!line_is_empty()) serve_line();
  }
  /// The holder says whether it waits for something else than the processor.
  void set_blocked(bool blocked) { blocked_.store(blocked, std::memory_order_relaxed); }
  /// Sends those who stand in line and are cancellable away.
  void cancel_line();
  /// Calls that wait: those in line, and a blocked holder.
  int64_t waiting() const {
    return line_length_.load(std::memory_order_relaxed) + (blocked_.load(std::memory_order_relaxed) ? 1 : 0);
  }

 private:
  struct InLine;

  bool line_is_empty() const { return line_length_.load(std::memory_order_relaxed) == 0; }
  bool spin_for_holder();
  Pass stand_in_line(Patience& patience, bool cancellable);
  void append(InLine& waiter);
  bool remove(InLine& waiter);
  void unlink(InLine& waiter) HEADPOND_REQUIRES(mu_);
  void serve_line();

  std::atomic<uint32_t> taken_ = 0;
  std::atomic<int32_t> line_length_ = 0;
  std::atomic<bool> blocked_ = false;

  alignas(64) Mutex mu_;
  InLine* first_ HEADPOND_GUARDED_BY(mu_) = nullptr;
  InLine* last_ HEADPOND_GUARDED_BY(mu_) = nullptr;
};

}  // namespace headpond
