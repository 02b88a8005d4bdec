// SPDX-License-Identifier: Apache-2.0
// What a program passes to a training.
#pragma once

#include <chrono>
#include <stop_token>

namespace headpond {

class EventWriter;

struct RunHooks {
  std::stop_token stop = {};                    ///< Ends the run with Cancelled within a step.
  EventWriter* events = nullptr;                ///< For TensorBoard scalars; not owned, outlives the run. May be null.
  bool progress = false;                        ///< Shows a bar on stderr.
  std::chrono::milliseconds chart_every{1000};  ///< Time between two points of a queue's chart.
};

}  // namespace headpond
