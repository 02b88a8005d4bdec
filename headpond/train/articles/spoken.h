// SPDX-License-Identifier: Apache-2.0
// Spoken digits by the Estimator: a network of three convolutions learns log-mel spectra of WAV files, and is evaluated
// while its inputs stay warm.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/train/articles/run_hooks.h"
#include "headpond/train/articles/spoken/spoken_run.h"

namespace headpond {

struct SpokenOptions {
  std::string folder = "";         ///< "": drawn tones, in the cache folder.
  std::string leave_speaker = "";  ///< Whose files are the test instead of the official one.
  int64_t batch = 128;
  double lr = 2e-3;  ///< Rate of the first step; it falls to 0 in equal steps.
  int torch_threads = 1;
  bool shift_labels = false;  ///< Shifts the training's labels by one: a control that must not learn.
  std::optional<SpokenPace> pace = std::nullopt;  ///< Nothing is learned: run_paced_spoken().
  SpokenRunOptions run = {};                      ///< The seed of its config is also the network's.
};

struct SpokenResult {
  int64_t parameters = 0;  ///< 0 with a pace.
  int64_t train_files = 0, test_files = 0;
  std::optional<double> accuracy = std::nullopt;           ///< Accuracy of the last evaluation; none with a pace.
  std::array<std::array<int64_t, 10>, 10> confusion = {};  ///< Likewise: [what it is][what the network says].
  SpokenRun run = {};
  double wall_s = 0;
};

/// Throws Exception(InvalidArgument) for options that cannot be. Errors of find_spoken() and of
/// train_and_evaluate(); Cancelled iff a stop was requested, after a checkpoint. `so_far`, if not null, is filled in
/// when it fails; its confusion may be of a part of the test.
Result<SpokenResult> train_spoken(const SpokenOptions& options, const RunHooks& hooks = {},
                                  SpokenResult* so_far = nullptr);

}  // namespace headpond
