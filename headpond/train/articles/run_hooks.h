// SPDX-License-Identifier: Apache-2.0
// What a training takes from the program around it.
#pragma once

#include <stop_token>

namespace headpond {

class EventWriter;

struct RunHooks {
  std::stop_token stop = {};      ///< Ends the run with Cancelled, within a step.
  EventWriter* events = nullptr;  ///< Scalars for TensorBoard; not owned, outlives the run; nullptr: none.
  bool progress = false;          ///< A bar on stderr.
};

}  // namespace headpond
