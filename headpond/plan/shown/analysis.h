// SPDX-License-Identifier: Apache-2.0
// The measurements of a short run of a pipeline.
#pragma once

#include <cstdint>
#include <functional>

#include "headpond/base/status.h"
#include "headpond/engine/loader.h"

namespace headpond::plan {

/// The measurements.
struct Analysis {
  double seconds = 0;
  int64_t elements = 0;  ///< Delivered.
  LoaderStats stats = {};
};

/// Takes elements until there is none, `seconds` have passed, or is_stopped(), which is asked before each and once the
/// time is over; `taken`: elements so far. The first error ends it.
Result<Analysis> analysed(Loader& loader, double seconds, const std::function<bool(int64_t taken)>& is_stopped);

}  // namespace headpond::plan
