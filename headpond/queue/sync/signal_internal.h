// SPDX-License-Identifier: Apache-2.0
// How a thread waits: it spins for about one wake time, then sleeps in the kernel; and a fence whose whole cost lies
// with the side that is about to sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/queue/sync/wait_cell_internal.h"
#include "headpond/queue/sync/wait_host_internal.h"
#include "headpond/queue/wait.h"

namespace headpond {

/// A flag that one thread waits for. raise() may be called by any thread, wait() and reset() by the waiter alone.
class Signal {
 public:
  void reset() { word_.store(kIdle, std::memory_order_relaxed); }
  bool is_raised() const { return word_.load(std::memory_order_acquire) == kRaised; }
  /// Wakes the waiter iff it sleeps. After its first access to the flag it touches nothing but the address: the waiter
  /// may be gone by then.
  void raise();
  /// Sleeps until raised; returns false iff `deadline` (now_ns() terms) passed first.
  bool wait(int64_t deadline);

 private:
  enum State : uint32_t { kIdle, kRaised, kAsleep };
  std::atomic<uint32_t> word_ = kIdle;
};

/// A Wait with its deadline. The deadline is computed when it is first needed, so a call that does not wait reads no
/// clock. It lives as long as the call, and a call that waits keeps its host alive as long.
class WaitContext {
 public:
  explicit WaitContext(const Wait& wait, WaitHost* host = nullptr, Verb verb = Verb::enqueue)
      : wait_(wait), host_(host), verb_(verb) {}
  ~WaitContext() {
    if ((marks_ & kHolds) != 0) [[unlikely]]
      host_->end_wait();
  }
  WaitContext(const WaitContext&) = delete;
  WaitContext& operator=(const WaitContext&) = delete;
  /// To be called before others can see that the call waits: they may then destroy the last handle of its host.
  void begin_wait() {
    if (host_ == nullptr || (marks_ & kHolds) != 0) return;
    host_->begin_wait(verb_);
    marks_ |= kHolds;
  }
  /// The time of each wait counts, the call itself once. `has_lock`: see WaitCell.
  void count_wait(WaitCell& waits, bool has_lock, int64_t from_ns, int64_t to_ns) {
    const bool is_first = !has_waited();
    has_lock ? waits.add(to_ns - from_ns, is_first) : waits.add_without_lock(to_ns - from_ns, is_first);
    waited_ns_ = to_ns - from_ns + (is_first ? 0 : waited_ns_);
    if (is_first) waited_since_ = from_ns;
    marks_ |= kCounted;
  }
  /// A wait was counted.
  bool has_waited() const { return (marks_ & kCounted) != 0; }
  /// When the first wait began, and how long all of them were. REQUIRES: has_waited().
  int64_t waited_since() const { return waited_since_; }
  int64_t waited_ns() const { return waited_ns_; }
  /// It does something that a trace shows.
  void show(int64_t now) {
    if (!is_shown()) shown_since_ = now;
    marks_ |= kShown;
  }
  bool is_shown() const { return (marks_ & kShown) != 0; }
  int64_t shown_since() const { return shown_since_; }
  /// See WaitHost; without one, never.
  int64_t alarm(Stall& stall, int64_t position) const {
    return host_ == nullptr ? INT64_MAX : host_->alarm(stall, position);
  }
  bool look_into(Stall& stall, int64_t missing) const { return host_->look_into(stall, verb_, missing); }
  bool is_none() const { return wait_.timeout.count() <= 0; }
  bool stop_requested() const { return wait_.stop.stop_requested(); }
  const std::stop_token& stop() const { return wait_.stop; }
  /// With timeout 0: how long the call may wait for calls of others that are running.
  int64_t deadline() {
    constexpr auto kMoment = std::chrono::milliseconds(20);
    if (deadline_ < 0 && wait_.timeout == kForever) deadline_ = INT64_MAX;
    if (deadline_ < 0) deadline_ = deadline_ns(now_ns(), is_none() ? kMoment : wait_.timeout);
    return deadline_;
  }
  /// Whether a call that waits again and again has waited, or worked, too long. Its first look fixes the deadline.
  bool is_over() { return wait_.timeout != kForever && now_ns() >= deadline(); }

 private:
  static constexpr uint8_t kHolds = 1;    // The host is kept.
  static constexpr uint8_t kCounted = 2;  // The call was counted as one that waited.
  static constexpr uint8_t kShown = 4;    // See show().

  const Wait& wait_;
  WaitHost* const host_;
  const Verb verb_;
  uint8_t marks_ = 0;  // One store for all.
  int64_t deadline_ = -1;
  int64_t waited_since_, waited_ns_, shown_since_;  // Written with their marks: most calls store nothing here.
};

/// Two threads that each write one flag and then read the other's need a fence between the two on both sides. The side
/// that runs often calls light(), the side that is about to sleep calls heavy(): one membarrier system call there makes
/// a compiler barrier enough here. Where the system refuses it, both are full fences.
namespace asymmetric_fence {
// Alone on a cache line: each hand-over reads it, and a neighbour that is written would slow that down.
struct alignas(64) Membarrier {
  bool is_there;
};
extern const Membarrier membarrier;
void full();
void heavy();
inline void light() {
  if (membarrier.is_there) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    full();
  }
}
}  // namespace asymmetric_fence

/// The processor's hint that this thread spins.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until ready() or until about one wake time has passed; returns true iff ready. `same_cpu` says whether whoever
/// is waited for ran last on this thread's only CPU: then spinning could only delay it.
template <class Ready>
bool spin_until(Ready&& ready, bool same_cpu);

/// The mean time that a sleeping thread needed to run again in this process, in ns; starts at 10,000.
int64_t wake_time_ns();
/// The only CPU that the calling thread may use; -1 iff there are more.
int only_cpu();
int current_cpu();

template <class Ready>
bool spin_until(Ready&& ready, bool same_cpu) {
  if (same_cpu) return ready();
  const int64_t end = now_ns() + wake_time_ns();
  do {
    for (int i = 0; i < 8; ++i) {
      if (ready()) return true;
      spin_pause();
    }
  } while (now_ns() < end);
  return ready();
}

}  // namespace headpond
