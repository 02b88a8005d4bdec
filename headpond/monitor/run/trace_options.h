// SPDX-License-Identifier: Apache-2.0
// Options of a RunLog's timeline: what it records, and when it writes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headpond/base/trace.h"

namespace headpond {

enum class TimelineFiles : uint8_t {
  json,      ///< timeline.json
  json_gz,   ///< timeline.json.gz
  perfetto,  ///< timeline.json and timeline.pftrace, with the same spans.
};

/// Which tasks show what each operator did in them.
enum class TraceProbes : uint8_t {
  sampled,  ///< Some, as the figures of operators need them anyway.
  every,    ///< All: for a few steps. It costs a clock before and after each operator and element.
};

struct TraceOptions {
  /// The timeline is recorded. There is one trace in a process: the log that was opened last has it.
  bool is_on = true;
  trace::Keep keep = trace::Keep::newest;
  size_t events_per_thread = 16384;
  /// Where `to` is at least 1, only these steps are recorded, the first one is 1, and written as timeline-<from>.json
  /// soon after the last one has ended. Without RunLog::step() the steps of the first pipeline count, as they are seen
  /// each RunLogOptions::write_every. A Recording that is on when they begin decides how much is kept.
  struct Steps {
    int64_t from = 0, to = 0;
  } steps = {};
  /// Above 0: when this signal of the system comes, SIGUSR2 say, what was recorded until then is written as
  /// timeline-<step>.json within RunLogOptions::write_every, and the run goes on. The log replaces the signal's handler
  /// while it is open; the former one is back when no log that does so is open.
  int signal = 0;
  TimelineFiles files = TimelineFiles::json;
  TraceProbes probes = TraceProbes::sampled;
};

}  // namespace headpond
