// SPDX-License-Identifier: Apache-2.0
// How many steps a second a pipeline can make, by laws: the program's step, the processors, calls that wait, the
// slowest serial part, and bytes a second. What a change gains is the same with one of its numbers altered.
#pragma once

#include <string>
#include <vector>

#include "headpond/engine/verdict/figures_internal.h"

namespace headpond::internal {

/// All times in seconds a step.
struct Model {
  double program = 0;      ///< The step itself.
  double program_cpu = 0;  ///< What it computes on the pool's processors.
  double processors = 1;   ///< Threads that may run.
  double cpu = 0;          ///< What all stages compute.
  double blocked = 0;      ///< What tasks of the stage that waits most wait.
  double may_block = 1;    ///< How many of these tasks may run at once.
  double serial = 0;       ///< The longest part that one thread at a time does.
  double next_serial = 0;  ///< The longest such part of another stage.
  double bandwidth = 0;    ///< What one step's shared bytes take.

  /// Steps a second.
  double rate() const;
};

Model model_of(const Figures& figures);
/// Steps a second that were made.
double measured_rate(const Figures& figures);

/// How many times as many steps `after` allows, at most what a perfect input would gain.
double gain_of(const Figures& figures, const Model& before, const Model& after);
/// The gain of making up to `ahead` batches before the program asks: the last steps once more, with that many.
double gain_of_window(const Figures& figures, const StageFigures& stage, int64_t ahead);

}  // namespace headpond::internal
