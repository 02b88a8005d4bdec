// SPDX-License-Identifier: Apache-2.0
// The memory and the time that a run will need, from a plan and elements that were tried.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/check/check.h"
#include "headpond/engine/check/tried_internal.h"

namespace headpond::internal {

/// What forecasts are made from.
struct Planned {
  const std::vector<Node::Ref>& nodes;  ///< Each operator once, from the program to the sources.
  const Tried& tried;                   ///< Elements of `single`,
  const Node& single;                   ///< the uppermost operator below the batches.
  int64_t rows = 1;                     ///< Of an element that the Loader delivers.
  const CheckOptions& options;
};

/// Who makes elements in that run, `most_threads` of them compute.
Workers workers_of(const Planned& planned, int most_threads);

int threads_of(const CheckOptions& options);
/// Values of an element of `node`; `otherwise` where elements differ in size.
int64_t bytes_of(const Node& node, int64_t otherwise);
/// Elements that `node` holds, of `most` that there are.
int64_t held_by(const Node& node, int64_t most);

/// Appends to report.memory, and to its findings.
void forecast_memory(const Planned& planned, CheckReport& report);
/// element_ns, first_batch_s, fill_s. REQUIRES: report.cardinality is known.
void forecast_times(const Planned& planned, CheckReport& report);

}  // namespace headpond::internal
