// SPDX-License-Identifier: Apache-2.0
// Pipelines with one planted mistake each, and some with none: what a verdict has to find, and what it has to be silent
// about. The bench verdict.faults and acceptance scenario 2 run them.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/bench/verdict/planted_files.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {

inline constexpr int64_t kPlantedRows = 32;  // Rows of a batch.

struct PlantedPipeline {
  Dataset dataset;
  LoaderOptions options = {};
  double step_ms = 20, jitter_ms = 0;
  int64_t queue_capacity = 0;  ///< Above 0: elements pass a shuffle queue with a minimum of 1000, by a producer.
  std::shared_ptr<const PlantedFiles> files = nullptr;  ///< The files that it reads.
  int64_t steps_to_fill = 0;  ///< The first steps, which fill a cache: steps_per_s is after them.
};

struct PlantedRun {
  Verdict verdict = {};
  double steps_per_s = 0;
  int64_t steps = 0;
  double reported_wait_s = 0;            ///< By the library.
  double stopwatch_wait_s = 0;           ///< By a stopwatch around the program's own call.
  std::vector<std::string> stages = {};  ///< The stages that ran, from the program to the sources.

  /// How far the two waits are apart; 1: by as much as they may, 1 % or 0.1 ms a step.
  double wait_error() const;
};

/// Where the program takes its batches. after_a_buffer is a control: a thread of its own takes from the Loader, and the
/// program from a queue of four batches that it fills, so what the library reports is not what the program waits.
enum class TakeFrom : uint8_t { loader, after_a_buffer };

Result<PlantedRun> run_planted(const PlantedPipeline& what, int64_t steps, const std::stop_token& stop = {},
                               TakeFrom from = TakeFrom::loader);

struct PlantedMistake {
  const char* name;
  ReasonCode right;
  const char *stage, *op;  ///< Where the mistake is; "": nowhere.
  PlantedPipeline (*make)(int64_t steps);
  /// With the change that the verdict names; null: it cannot be made on this machine.
  PlantedPipeline (*changed)(const Change& told, int64_t steps) = nullptr;

  /// A run without a mistake gets no advice.
  bool is_found_by(const Verdict& verdict) const;
};

std::vector<PlantedMistake> planted_mistakes();
std::vector<PlantedMistake> runs_without_a_mistake();
/// For TakeFrom::after_a_buffer: the input is slower than the step.
PlantedPipeline slow_input(int64_t steps);

/// Controls: what a library would say that takes one stage for its neighbour, and one that measures no operator.
Verdict with_stages_swapped(const PlantedRun& run);
Verdict without_probes(const PlantedRun& run);

}  // namespace headpond::cli
