// SPDX-License-Identifier: Apache-2.0
// A timeline in Perfetto's own format: https://perfetto.dev/docs/reference/synthetic-track-event.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/monitor/timeline_tracks_internal.h"

namespace headpond::internal {

/// Gives the bytes of the file to `write`, a piece at a time, and returns its first error. Spans, counters and times
/// are those of the Chrome format, in nanoseconds since `origin_ns`; an arrow belongs to the innermost span around each
/// of its ends.
Result<void> write_perfetto(const std::vector<Track>& tracks, const std::vector<FlowPoint>& flows, int64_t origin_ns,
                            std::string_view process_name, const std::function<Result<void>(std::string_view)>& write);

}  // namespace headpond::internal
