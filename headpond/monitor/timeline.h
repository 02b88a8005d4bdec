// SPDX-License-Identifier: Apache-2.0
// A trace as a file for https://ui.perfetto.dev or chrome://tracing: one track a thread, queue fill as counters, arrows
// from the span that made an element to the span that used it. Formats: Chrome's trace events, JSON object form, and
// Perfetto's own, with the same spans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/base/trace.h"

namespace headpond {

struct TimelineOptions {
  std::string process_name = "headpond";
};

/// The spans that a timeline holds, and those that it could not show.
struct TimelineReport {
  int64_t threads = 0;
  int64_t spans = 0;
  int64_t counters = 0;  ///< Samples.
  int64_t flows = 0;     ///< Arrows' starts.
  int64_t instants = 0;
  int64_t dropped_events = 0;  ///< The trace's buffer was full: start the trace later, or with a higher limit.
  /// Ends of arrows whose other end, or whose span, is not in the trace (it was dropped, or the trace ended before).
  int64_t flow_ends_left_out = 0;
  /// Spans that reached beyond the one around them and were cut to it; the clock makes none.
  int64_t spans_cut = 0;
};

/// Writes `threads` to `path`: Perfetto's format iff it ends in ".pftrace" or ".perfetto-trace", else JSON; gzipped iff
/// ".gz" follows. The JSON is valid whatever the names hold. Spans nest on each thread, and every arrow has both ends
/// in a span. Times count from the first event, in JSON in microseconds, with counts of what is missing in otherData.
/// `path` is replaced only when all is written: readers see the old file or the whole new one, and on failure nothing
/// else is left. One writer of a `path` at a time.
Result<TimelineReport> write_timeline(const std::string& path, const std::vector<trace::ThreadEvents>& threads,
                                      const TimelineOptions& options = {});

/// Writes all that was recorded so far: write_timeline(path, trace::collect(), options).
Result<TimelineReport> write_timeline(const std::string& path, const TimelineOptions& options = {});
void write_timeline(internal::ListOfNames, const TimelineOptions& = {}) = delete;
void write_timeline(internal::ListOfNames, const std::vector<trace::ThreadEvents>&,
                    const TimelineOptions& = {}) = delete;

}  // namespace headpond
