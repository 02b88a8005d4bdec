// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "headpond/engine/loader.h"
#include "headpond/monitor/run_log.h"

namespace headpond::cli {

/// Watches the Loader that a bench measures, if the bench is captured: see BenchSetup::log.
[[nodiscard]] inline RunLog::Watch watched(RunLog* log, const Loader& loader, std::string name) {
  return log != nullptr ? log->watch(loader, std::move(name)) : RunLog::Watch();
}

}  // namespace headpond::cli
