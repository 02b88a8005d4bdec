// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/engine/executor/consumer_internal.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"

namespace headpond::internal {
namespace {

constexpr double kInlineNs = 40'000;  // A batch cheaper than that costs less than handing it over.
constexpr double kWorthMeasuringNs = 200'000;
constexpr double kMostlyComputes = 0.5;  // Share of a step.
constexpr double kMeanOver = 20'000;     // Takes; several times the largest stock.
constexpr double kLearnAfter = 4;        // Takes.
constexpr int64_t kCallsPerClock = 7;    // No divisor of the usual numbers of batches in an item.
constexpr int64_t kLeastCallNs = 100;
constexpr int64_t kBetweenQueueLooksNs = 50'000'000, kMostBetweenQueueLooksNs = 1'000'000'000;
constexpr double kOthersCompute = 0.1, kOthersRest = 0.05;  // Processors. Between the two nothing changes.
constexpr int64_t kStepsBetweenQueueLooks = 16;  // To open the system's file takes longer than the rest of a call.

}  // namespace

void Consumer::arrive(EngineLock& lock) {
  may_end_late_ = false;
  came_again_ = std::exchange(is_polling_, false);
  if (came_again_) return polled_ns_.store(0, std::memory_order_relaxed);
  if (ended_step_) {  // The call before had an exception: it never had the lock.
    const Locked locked(lock);
    count_step();
  }
  const int64_t now = now_ns();
  StepAccount::Work work{.ns = std::max(now - left_ns_, int64_t{0})};  // When it left may be estimated.
  const auto most = static_cast<double>(work.ns);
  const bool same_thread = left_on_ == std::this_thread::get_id();  // Each thread has clocks of its own.
  if (left_cpu_ns_ > 0 && same_thread) {
    work.cpu_ns = std::clamp(static_cast<double>(thread_cpu_ns() - left_cpu_ns_), 0.0, most);
    const double share = work.cpu_ns / (most + 1);
    busy_.add(share);
    cpu_looks_.looked((share > kMostlyComputes) == computes());
  }
  if (left_queue_ns_ >= 0 && same_thread) {
    const int64_t queue_ns = thread_queue_ns();
    if (queue_ns >= 0) work.queue_ns = std::clamp(static_cast<double>(queue_ns - left_queue_ns_), 0.0, most);
  }
  step_took_ns_ = left_ns_ != 0 ? work.ns : 0;
  const int64_t call_ns = left_ns_ - arrived_ns_.load(std::memory_order_relaxed);
  arrived_ns_.store(now, std::memory_order_relaxed);
  in_call_.store(true, std::memory_order_release);
  ended_step_ = EndedStep{left_ns_ != 0, call_ns, work};
}

void Consumer::count_step() {
  if (!ended_step_) return;
  const EndedStep step = *std::exchange(ended_step_, std::nullopt);
  if (!step.is_known) return steps.forget_call();
  if (kCounts) steps.add(step.call_ns, step.work);
  step_ns_.add(static_cast<double>(step.work.ns));
  steps_are_long_.store(step_ns_.value() > kWorthMeasuringNs, std::memory_order_relaxed);
}

// A sample is believed only up to twice the last one: the thread may have lost its processor meanwhile.
int64_t Consumer::now_leaving(bool was_short) {
  if (was_short && ++ready_calls_ % kCallsPerClock != 0) return arrived_ns() + ready_call_ns_;
  const int64_t now = now_ns();
  if (was_short) ready_call_ns_ = std::min(now - arrived_ns(), 2 * ready_call_ns_ + kLeastCallNs);
  return now;
}

void Consumer::leave(bool was_ready) {
  may_end_late_ = true;
  // Unknown: it computes, so that the first steps are not held up either.
  computes_.store(!busy_.known() || busy_.value() > kMostlyComputes, std::memory_order_relaxed);
  const bool measures = has_long_steps();
  left_cpu_ns_ = measures && cpu_looks_.is_due() ? thread_cpu_ns() : 0;
  cpu_looks_.pass();
  if (measures) cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  left_ns_ = now_leaving(was_ready && !measures && !came_again_);
  called_ns_.store(called_ns_.load(std::memory_order_relaxed) + left_ns_ - arrived_ns(), std::memory_order_release);
  in_call_.store(false, std::memory_order_release);
  left_queue_ns_ = -1;
  polled_ns_.store(0, std::memory_order_relaxed);
  if (measures) left_on_ = std::this_thread::get_id();
  if (!kCounts || !measures || left_ns_ < next_queue_look_ns_) return;
  left_queue_ns_ = thread_queue_ns();
  next_queue_look_ns_ =
      left_ns_ + std::clamp(kStepsBetweenQueueLooks * step_took_ns_, kBetweenQueueLooksNs, kMostBetweenQueueLooksNs);
}

void Consumer::leave_empty() {
  is_polling_ = true;
  polled_ns_.store(now_ns(), std::memory_order_relaxed);
}

void Consumer::leave_late() {
  if (!std::exchange(may_end_late_, false)) return;
  const int64_t now = std::max(now_ns(), left_ns_);
  called_ns_.store(called_ns_.load(std::memory_order_relaxed) + now - left_ns_, std::memory_order_release);
  left_ns_ = now;
  if (left_cpu_ns_ > 0 || left_queue_ns_ >= 0) left_on_ = std::this_thread::get_id();
  if (left_cpu_ns_ > 0) left_cpu_ns_ = thread_cpu_ns();
  if (left_queue_ns_ >= 0) left_queue_ns_ = thread_queue_ns();
}

void Consumer::pause() {
  may_end_late_ = false;
  const int64_t polled = polled_ns_.exchange(0, std::memory_order_relaxed);
  if (std::exchange(is_polling_, false)) {
    called_ns_.store(called_ns_.load(std::memory_order_relaxed) + polled - arrived_ns(), std::memory_order_release);
    in_call_.store(false, std::memory_order_release);
  }
  left_ns_ = left_cpu_ns_ = 0;
  left_queue_ns_ = -1;
}

void Consumer::count_others(double processors) {
  mean_others_.add(processors);
  has_other_threads_ = mean_others_.value() > (has_other_threads_ ? kOthersRest : kOthersCompute);
}

double Consumer::take_interval_ns(int64_t taken, int64_t since) const {
  if (taken <= 0 || takes_ <= since || !step_ns_.known()) return 0;
  return std::max(step_ns_.value(), 1000.0) * static_cast<double>(takes_ - since) / static_cast<double>(taken);
}

// Work is counted when it is done, and takes when they happen. So while there is a stock, the mean over many takes is
// at least what a batch costs. Without a stock, when the program makes batches itself, each take shows its own.
bool Consumer::count_take(int64_t work_ns, bool any_blocking) {
  count_step();
  ++takes_;
  const auto work = static_cast<double>(work_ns);
  if (inline_) {
    inline_batch_ns_.add(work);
    if (inline_batch_ns_.value() < 2 * kInlineNs) return false;
    inline_ = false;
    trace::instant("made ahead", trace::Category::step);
    mean_work_ns_ = mean_takes_ = 0;
    return true;
  }
  mean_work_ns_ += work;
  mean_takes_ += 1;
  if (mean_takes_ > kMeanOver) {
    mean_work_ns_ /= 2;
    mean_takes_ /= 2;
  }
  inline_ = may_help_ && mean_takes_ >= kLearnAfter && !any_blocking && mean_work_ns_ < kInlineNs * mean_takes_;
  inline_batch_ns_ = {0.2, 0.2};
  if (inline_) trace::instant("made inline", trace::Category::step);
  return false;
}

}  // namespace headpond::internal
