// SPDX-License-Identifier: Apache-2.0
// Wait accounting at the consumer's call. A step has two parts: the call that fetches the next batch, and the work
// between two calls. The account measures both.
//
//   WaitAccount account;
//   while (auto batch = account.measure([&] { return queue.dequeue_many(32); })) train_step(*batch);
//   account.pause();
//   account.summary().wait_share
#pragma once

#include <cstdint>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/math/log_histogram.h"
#include "headpond/base/stats.h"
#include "headpond/base/trace.h"

namespace headpond {

/// One step: a call, and what followed it until the next call.
struct WaitStep {
  int64_t wait_ns = 0;
  int64_t work_ns = 0;
};

struct WaitSummary {
  /// Time in the call / all time, from the first call on.
  /// Near 0: data is always ready; the device limits, and a faster input pipeline gains nothing.
  /// Near 1: the device is idle; the input limits. Add producers, make the slowest stage cheaper, or prepare more data
  /// ahead of training. Every share in between is about the share of time that a perfect input would save.
  double wait_share = 0;
  int64_t calls = 0;
  int64_t wait_ns = 0;  ///< In calls, all together.
  int64_t work_ns = 0;  ///< Between calls, all together, without what pause() took out.
  /// The first call. Large: the queue fills before it serves (a shuffle queue up to its minimum); a start-up cost, paid
  /// once, and no sign of a slow input if the quantiles are small.
  int64_t first_wait_ns = 0;
  /// A typical call, and the slow ones; at most 1/8 above the exact quantile. Both near 0: all is well. p50 near 0 with
  /// a large p99: bursts; a larger queue evens them out. Both large: the input is slower than training; a larger queue
  /// does not help.
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
};

/// Measures with two clock reads a step: each part agrees with a stopwatch around the same call within 0.1 ms or 1 %.
/// measure() and pause() belong to one thread, the consumer (several consumers: an account each); the rest is
/// thread-safe.
class WaitAccount {
 public:
  /// `name` is that of the trace's spans: a literal or interned.
  explicit WaitAccount(const char* name = "wait", int64_t (*clock)() = now_ns) : name_(name), clock_(clock) {}
  WaitAccount(const WaitAccount&) = delete;
  WaitAccount& operator=(const WaitAccount&) = delete;

  /// Returns `call()`. Its time is wait, also when it throws; the time since the last call ended is work.
  template <class Call>
  decltype(auto) measure(Call&& call) {
    const Measurement measurement(*this);
    return std::forward<Call>(call)();
  }

  /// Ends the step in progress. Time from now until the next call counts as nothing: validation, a checkpoint, the end.
  void pause();

  /// The last call, and the work before it (0 after a pause): what the newest step cost.
  WaitStep last() const { return {last_wait_ns_.get(), last_work_ns_.get()}; }

  /// Everything so far, the step in progress up to now; quantiles and calls count only what has ended. On another
  /// thread than the consumer's, the step in progress may be missing or counted twice.
  WaitSummary summary() const;

 private:
  class Measurement {
   public:
    explicit Measurement(WaitAccount& account)
        : account_(account), span_(account.name_, trace::Category::wait), start_ns_(account.begin()) {}
    ~Measurement() { account_.end(start_ns_); }
    Measurement(const Measurement&) = delete;
    Measurement& operator=(const Measurement&) = delete;

   private:
    WaitAccount& account_;
    const trace::Span span_;
    const int64_t start_ns_;
  };

  int64_t begin();
  void end(int64_t start_ns);

  const char* const name_;
  int64_t (*const clock_)();

  LogHistogram waits_;
  StatsCell wait_ns_, work_ns_, first_wait_ns_, last_wait_ns_, last_work_ns_;
  StatsCell since_ns_;  // In progress: waiting since this moment, working since minus it, or 0: neither.
};

}  // namespace headpond
