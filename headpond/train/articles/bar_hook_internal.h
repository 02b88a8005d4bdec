// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  Result<void> after_run(HookContext&, double loss, const Metrics&) override {
    bar_.set_values({{"loss", loss}});
    bar_.update();
    return {};
  }

 private:
  Progress bar_;
};

}  // namespace headpond::internal
