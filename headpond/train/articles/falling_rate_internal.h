// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headpond/train/loop/hook.h"

namespace headpond::internal {

/// A learning rate that falls to 0 in equal steps. Where a step is, its number alone says, so a training goes on from a
/// checkpoint as if it had not been interrupted.
class FallingRate final : public Hook {
 public:
  /// `losses`: of all steps of this process, over several trainings that each count from 0. All outlive it.
  FallingRate(torch::optim::Adam& adam, double first, int64_t steps, const std::vector<double>& losses)
      : adam_(adam), first_(first), steps_(steps), losses_(losses) {}
  std::string_view name() const override { return "falling_rate"; }
  Result<void> before_run(HookContext& context) override {
    const int64_t step = std::max(context.step, static_cast<int64_t>(losses_.size()));
    const double left = 1 - static_cast<double>(step) / static_cast<double>(steps_);
    for (auto& group : adam_.param_groups()) group.options().set_lr(first_ * std::max(left, 0.0));
    return {};
  }

 private:
  torch::optim::Adam& adam_;
  const double first_;
  const int64_t steps_;
  const std::vector<double>& losses_;
};

}  // namespace headpond::internal
