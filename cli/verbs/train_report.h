// SPDX-License-Identifier: Apache-2.0
// What `train spoken` and `train nuclei` share: the options of their checkpoints, and the members that tell of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "headpond/base/json.h"
#include "headpond/base/status.h"
#include "headpond/train/loop/training.h"

namespace headpond::cli {

struct CheckpointFlags {
  std::string model_dir = "";
  int64_t save_steps = 0;
  std::optional<int64_t> max_steps = std::nullopt;
  std::string resume = "auto";
  bool from_scratch = false;
};

void declare_checkpoints(Flags& flags, CheckpointFlags& to, int64_t save_steps);
/// FailedPrecondition iff one of these folders in model_dir has checkpoints, and --resume is never.
Result<RunConfig> config_of(const CheckpointFlags& flags, uint64_t seed, const std::vector<std::string>& in = {""});

/// "resumed_from", "steps" and "checkpoints"; then "losses", as hexadecimal numbers.
void write_training(JsonWriter& json, const TrainingReport& report, const std::vector<double>& losses);

}  // namespace headpond::cli
