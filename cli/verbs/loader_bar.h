// SPDX-License-Identifier: Apache-2.0
// The progress bar of a verb that takes batches of a Loader.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "cli/session.h"
#include "headpond/engine/loader.h"
#include "headpond/monitor/progress.h"

namespace headpond::cli {

/// Its note is what `loader`, which outlives the bar, says of its waits so far. `total`: batches; below 1: unknown.
inline ProgressOptions loader_bar(const Session& session, const Loader& loader, std::string verb, int64_t total = -1) {
  return {.description = std::move(verb), .total = total, .enabled = session.progress(), .note = [&loader] {
            return progress_note(loader.diagnose());
          }};
}

}  // namespace headpond::cli
