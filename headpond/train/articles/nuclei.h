// SPDX-License-Identifier: Apache-2.0
// Interactive segmentation: an encoder-decoder learns which pixels are nuclei from colours and from how far clicks are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/train/articles/run_hooks.h"
#include "headpond/train/articles/step_clock.h"
#include "headpond/train/loop/training.h"

namespace headpond {

struct NucleiOptions {
  Dataset train;  ///< f32 "input" [batch, 5, height, width] and "target" [batch, height, width], of 0 and 1.
  Dataset test;   ///< The same; a batch is one picture of any size.
  int64_t steps = 400;
  std::optional<int64_t> max_steps = std::nullopt;  ///< Ends it earlier.
  double lr = 4e-3;                                 ///< Rate of the first step; it falls to 0 in equal steps.
  int torch_threads = 1;
  RunConfig config = {};  ///< Its seed is also the network's.
};

struct NucleiResult {
  int64_t parameters = 0;
  std::optional<double> iou = std::nullopt;  ///< Mean over the test's pictures, at the end.
  std::vector<double> losses = {};
  StepClock clock = {};
  TrainingReport report = {};
  double wall_s = 0;
};

/// Three levels of 16, 32 and 64 channels with skips, to which each pixel also shows how like its colour is to that at
/// the clicks; binary cross-entropy and Dice; Adam. Errors as those of train_and_evaluate(); Cancelled iff a stop was
/// requested, after a checkpoint. `so_far`, if not null, is filled in when it fails.
Result<NucleiResult> train_nuclei(const NucleiOptions& options, const RunHooks& hooks = {},
                                  NucleiResult* so_far = nullptr);

}  // namespace headpond
