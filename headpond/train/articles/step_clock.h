// SPDX-License-Identifier: Apache-2.0
// Where the time of training steps goes, and their losses.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/train/loop/hook.h"

namespace headpond {

/// From the moment that a batch is asked for to the end of the step. What is between steps does not count, nor do the
/// first kSettled ones.
class StepClock {
 public:
  static constexpr int64_t kSettled = 3;
  void ask() { asked_ns_ = now_ns(); }
  void begin() { begun_ns_ = now_ns(); }  ///< There is a batch: for the learner.
  void end() {
    if (++steps_ <= kSettled) return;
    step_ns_ += static_cast<double>(now_ns() - asked_ns_);
    wait_ns_ += static_cast<double>(begun_ns_ - asked_ns_);
  }
  /// The mean; 0 of none.
  double step_s() const { return steps_ > kSettled ? 1e-9 * step_ns_ / static_cast<double>(steps_ - kSettled) : 0; }
  double wait_share() const { return step_ns_ > 0 ? wait_ns_ / step_ns_ : 0; }
  double last_wait_ms() const { return 1e-6 * static_cast<double>(begun_ns_ - asked_ns_); }

 private:
  int64_t asked_ns_ = 0, begun_ns_ = 0, steps_ = 0;
  double step_ns_ = 0, wait_ns_ = 0;
};

/// Asks and ends the clock around each step, whose learner begins it; keeps the losses. Both outlive it.
class StepHook : public Hook {
 public:
  StepHook(StepClock& clock, std::vector<double>& losses) : clock_(clock), losses_(losses) {}
  std::string_view name() const override { return "steps"; }
  Result<void> before_run(HookContext&) override {
    clock_.ask();
    return {};
  }
  Result<void> after_run(HookContext&, double loss, const Metrics&) override {
    clock_.end();
    losses_.push_back(loss);
    return {};
  }

 private:
  StepClock& clock_;
  std::vector<double>& losses_;
};

}  // namespace headpond
