// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "headpond/monitor/progress.h"
#include "headpond/train/articles/run_hooks.h"
#include "headpond/train/loop/hook.h"

namespace headpond::internal {

/// Shows the steps of a training, or of several in a row, as a bar with the loss.
class BarHook final : public Hook {
 public:
  /// `hooks.log`, if there is one, outlives it. `total`: steps; below 1: unknown.
  BarHook(const RunHooks& hooks, std::string description, int64_t total)
      : bar_(bar_of(hooks, hooks.log, std::move(description), total)) {}
  std::string_view name() const override { return "bar"; }
  // A training that goes on begins at its step; one after another begins at 0 again.
  Result<void> after_run(HookContext& context, double loss, const Metrics&) override {
    const int64_t step = std::max(context.step, shown_ + 1);
    bar_.set_values({{"loss", loss}});
    bar_.update(step - std::exchange(shown_, step));
    return {};
  }

 private:
  Progress bar_;
  int64_t shown_ = 0;
};

}  // namespace headpond::internal
