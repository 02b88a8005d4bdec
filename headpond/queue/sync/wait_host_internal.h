// SPDX-License-Identifier: Apache-2.0
// What a call that waits needs of the queue at which it waits.
#pragma once

#include <chrono>
#include <cstdint>

#include "headpond/base/clock.h"

namespace headpond {

enum class Verb : uint8_t { enqueue, dequeue };

/// How long one side of a queue has made no progress. A call that gives up passes the stall to the next one, which may
/// come a little later. A stall ends when no call waits for one alarm period.
struct Stall {
  int64_t position = -1;  // The other side's; a stall ends when it moves.
  int64_t since = 0;
  int64_t alarm = 0;  // When it is to be looked into.
  int64_t left = -1;  // When the last waiter left; -1 while a call waits.
  bool told = false;

  int64_t next_alarm(int64_t now_at, int64_t now, std::chrono::nanoseconds period) {
    const bool is_over = left >= 0 && now >= deadline_ns(left, period);
    left = -1;
    if (position != now_at || is_over) *this = {.position = now_at, .since = now, .alarm = deadline_ns(now, period)};
    return alarm;
  }
};

class WaitHost {
 public:
  virtual ~WaitHost() = default;
  /// A call of the calling thread is about to wait: the host stays alive until the call ends, which it says last.
  virtual void begin_wait(Verb verb) = 0;
  virtual void end_wait() = 0;
  /// When the front call that waits should look_into(); INT64_MAX: never. `position` is the other side's.
  virtual int64_t alarm(Stall& stall, int64_t position) const = 0;
  /// Reports, once a stall, and does not wait for the report. Returns true iff the call must give up, because nobody is
  /// left who could end the stall.
  virtual bool look_into(Stall& stall, Verb verb, int64_t missing) noexcept = 0;
};

}  // namespace headpond
