// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/engine/stages/concurrency_limit_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kWindowNs = 100'000'000;      // Of all threads, while the limit doubles.
constexpr int64_t kLongWindowNs = 400'000'000;  // Later: there the differences are small.
constexpr double kWorthIt = 0.25;               // Of the work that as many more threads would do without a lock.
constexpr double kWeight = 0.3;                 // Of the last window in the rate.
constexpr int64_t kFirstPause = 4, kLongestPause = 16;

}  // namespace

void ConcurrencyLimit::begin(const void* stage) {
  if (stage_ == nullptr) stage_ = stage;
  is_shared_ = is_shared_ || stage != stage_;
  if (++running_ >= limit_) full_since_ns_ = now_ns();
}

bool ConcurrencyLimit::end(const EndedTask& task) {
  const int running = running_--;
  full_since_ns_ = task.ended_ns;
  if (to_skip_ > 0) {
    --to_skip_;
    return false;
  }
  elapsed_ns_ += task.elapsed_ns;
  work_ += task.work;
  running_sum_ += running;
  at_limit_ += running >= limit_ ? 1 : 0;
  if (++tasks_ < (doubles_ ? 1 : 2) * limit_ || elapsed_ns_ < (doubles_ ? kWindowNs : kLongWindowNs)) return false;
  const int limit = limit_;
  if (2 * at_limit_ > tasks_) {  // A window in which fewer have work says nothing about the limit.
    const double mean_running = static_cast<double>(running_sum_) / static_cast<double>(tasks_);
    judge(mean_running * work_ / static_cast<double>(elapsed_ns_));
    const int next = next_to_try();
    if (next != limit_) before_ = std::exchange(limit_, next);
  }
  work_ = 0;
  elapsed_ns_ = running_sum_ = tasks_ = at_limit_ = 0;
  to_skip_ = limit_ != limit ? running_ : 0;
  return limit_ > limit;
}

bool ConcurrencyLimit::is_reached() const {
  const int limit = std::min(limit_, most_);
  return running_ >= limit && (running_ >= most_ || now_ns() - full_since_ns_ < kUntilOneMoreNs);
}

// Ends a try, if there is one.
void ConcurrencyLimit::judge(double rate) {
  if (before_ == 0) {
    rate_ = rate_ == 0 ? rate : rate_ + kWeight * (rate - rate_);
    return;
  }
  const int before = std::exchange(before_, 0);
  if (limit_ > before) add_try(static_cast<double>(limit_) / before, rate / rate_);
  const double gain = rate / rate_ - 1, without_lock = static_cast<double>(limit_) / before - 1;
  if (gain >= kWorthIt * without_lock) {
    rate_ = rate;
    pause_ = kFirstPause;
  } else {
    limit_ = before;
    pause_ = std::exchange(doubles_, false) ? kFirstPause : std::min(2 * pause_, kLongestPause);
  }
}

// A line through no more threads and no gain, on logarithms; the last tries count most. The first one does not: the
// rate before it is that of tasks that had just begun.
void ConcurrencyLimit::add_try(double threads, double work) {
  constexpr double kKept = 0.9;
  if (std::exchange(is_first_try_, false)) return;
  const double more = std::log2(threads), gained = std::clamp(std::log2(std::max(work, 1.0)), 0.0, more);
  more_ = kKept * more_ + more * more;
  gained_ = kKept * gained_ + more * gained;
}

std::optional<double> ConcurrencyLimit::exponent() const {
  constexpr double kEnough = 0.5;  // Half as many more, twice.
  return more_ >= kEnough && !is_shared_ ? std::optional(1 - gained_ / more_) : std::nullopt;
}

int ConcurrencyLimit::next_to_try() {
  if (doubles_ && limit_ < most_) return std::min(2 * limit_, most_);
  if (++windows_ < pause_) return limit_;
  windows_ = 0;
  tries_fewer_ = !tries_fewer_;
  const int step = 1 + limit_ / 4;
  return std::clamp(tries_fewer_ ? limit_ - step : limit_ + step, 1, most_);
}

}  // namespace headpond::internal
