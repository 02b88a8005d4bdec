// SPDX-License-Identifier: Apache-2.0
// What a timeline needs of a trace before it can be written: spans in order and nested, arrows with both ends.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/trace.h"

namespace headpond::internal {

/// What the threads of one id wrote: the system gives the id of a thread that ended to another.
struct Track {
  int thread_id = 0;
  std::string name = {};
  int64_t spans_cut = 0;
  std::vector<trace::Event> spans = {};  ///< By start, outer before inner; each within the one around it.
  std::vector<trace::Event> counters = {};
  std::vector<trace::Event> instants = {};
  std::vector<trace::Event> flow_ends = {};
  std::vector<int64_t> reach = {};  ///< The latest end among the spans up to each.
};

/// In the order of display: producers by name ("x/2" before "x/10"), then the consumer, then the monitor.
std::vector<Track> make_tracks(const std::vector<trace::ThreadEvents>& threads);

/// Calls `text(name, value)` or `number(name, value)` for each that is known. A span of several tasks says how many.
template <class Text, class Number>
void for_each_arg(const trace::Event& event, const Text& text, const Number& number) {
  const trace::Args& args = event.args;
  if (args.names == nullptr) return;
  for (size_t i = 0; i < args.values.size() && args.names->names[i] != nullptr; ++i) {
    const int64_t value = args.values[i];
    if (value == trace::kNoArg) continue;
    if (i == 0 && args.names->has_text) {
      text(args.names->names[i], std::bit_cast<const char*>(value));
    } else {
      number(args.names->names[i], value);
    }
  }
  if (event.kind == trace::Kind::span && event.value > 1) number("tasks", static_cast<int64_t>(event.value));
}

/// One end of an arrow; those of one id follow each other, in order of time.
struct FlowPoint {
  uint64_t id;
  int64_t time_ns;
  int thread_id;
  bool begin;  ///< Begins an element's way; a further one on its way is a step.
  const char* name;
  char phase = 't';  ///< 's' first, 'f' last, 't' between.
};

/// The ends that make whole arrows: inside a span of their thread, from a begin to an end.
std::vector<FlowPoint> make_flows(const std::vector<Track>& tracks);

}  // namespace headpond::internal
