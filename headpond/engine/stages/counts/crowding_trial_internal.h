// SPDX-License-Identifier: Apache-2.0
// Fewer calls at once for a while, so that Crowding sees what they take then.
#pragma once

#include <cstdint>

#include "headpond/base/clock.h"

namespace headpond::internal {

/// Where as many calls wait at once all the time, Crowding cannot tell a server that answers each of them after the
/// same time from a limit that they share. Then a quarter of them runs for some time, once. If they share something,
/// that delays nobody; else it costs at most cost_ns(). Only where calls are so short that enough of them end in it.
///
/// Calls that wait for each other may not return before more of them run, so the trial ends after kLongestNs as well.
class CrowdingTrial {
 public:
  static constexpr int64_t kLeastInside = 16, kLongestNs = 3'000'000'000;

  /// The time that a stage loses by one, where calls that take so long share nothing.
  static constexpr int64_t cost_ns(int64_t call_ns) { return call_ns * kCalls * (kPart - 1) / kPart; }
  /// Whether enough calls that take so long end in kLongestNs.
  static constexpr bool has_time_for(int64_t call_ns) { return call_ns < kLongestNs / (kCalls + 1); }
  /// Whether a call may begin beside `inside` others.
  bool may_begin(int64_t inside) const { return limit_ == 0 || inside < limit_ || now_ns() >= until_ns_; }
  /// One of `inside` calls has ended. True once per 2 `inside` calls, where a trial may begin.
  bool call_ended(int64_t inside, int64_t ended_ns) {
    if (limit_ > 0) {
      if (--left_ <= 0 || ended_ns >= until_ns_) limit_ = 0;
      return false;
    }
    if (is_over_ || inside < kLeastInside || ++calls_ < kBefore * inside) return false;
    calls_ = 0;
    return true;
  }
  /// Calls that ran when the trial began still end, so their number changes all the time.
  bool is_beginning() const { return limit_ > 0 && left_ >= kCalls * limit_; }
  void begin(int64_t inside, int64_t now_ns) {
    is_over_ = true;
    limit_ = inside / kPart;
    left_ = inside - limit_ + kCalls * limit_;  // Those that run already end first.
    until_ns_ = now_ns + kLongestNs;
  }

 private:
  static constexpr int64_t kPart = 4, kBefore = 2, kCalls = 4;  // Crowding needs two points, of two calls of each.

  int64_t limit_ = 0;  // 0: there is no trial.
  int64_t left_ = 0, until_ns_ = 0;
  int64_t calls_ = 0;  // Since one might have begun.
  bool is_over_ = false;
};

}  // namespace headpond::internal
