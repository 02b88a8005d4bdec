// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

#include "headpond/monitor/timeline_tracks_internal.h"

namespace headpond::internal {
namespace {

using trace::Event;
using trace::Kind;

int64_t end_ns_of(const Event& span) { return span.start_ns + span.length_ns; }

void sort_and_nest(Track& track) {
  // Spans are recorded when they end, so that of two equal ones the later is the outer.
  std::reverse(track.spans.begin(), track.spans.end());
  std::stable_sort(track.spans.begin(), track.spans.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.start_ns, -a.length_ns) < std::tuple(b.start_ns, -b.length_ns);
  });
  std::vector<int64_t> around;  // Ends of the spans that are open at this start.
  for (Event& span : track.spans) {
    while (!around.empty() && around.back() <= span.start_ns) around.pop_back();
    if (!around.empty() && end_ns_of(span) > around.back()) {
      span.length_ns = around.back() - span.start_ns;
      ++track.spans_cut;
    }
    around.push_back(end_ns_of(span));
    track.reach.push_back(track.reach.empty() ? end_ns_of(span) : std::max(track.reach.back(), end_ns_of(span)));
  }
}

void add_events(Track& track, const std::vector<Event>& events) {
  for (Event event : events) {
    event.length_ns = std::max<int64_t>(event.length_ns, 0);
    if (event.kind == Kind::span) {
      track.spans.push_back(event);
    } else if (event.kind == Kind::counter) {
      track.counters.push_back(event);
    } else if (event.kind == Kind::instant) {
      track.instants.push_back(event);
    } else {
      track.flow_ends.push_back(event);
    }
  }
}

bool inside_a_span(const Track& track, int64_t time_ns) {
  const auto after = std::upper_bound(track.spans.begin(), track.spans.end(), time_ns,
                                      [](int64_t time, const Event& span) { return time < span.start_ns; });
  return after != track.spans.begin() && track.reach[static_cast<size_t>(after - track.spans.begin()) - 1] >= time_ns;
}

/// The rank, the name without its number, the number.
std::tuple<int, std::string_view, int64_t, int> display_order(const Track& track) {
  std::string_view stem = track.name;
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  int64_t number = -1;
  std::from_chars(track.name.data() + stem.size(), track.name.data() + track.name.size(), number);
  const int rank = stem == "monitor" ? 2 : stem == "main" || stem == "consumer" ? 1 : 0;
  return {rank, stem, number, track.thread_id};
}

}  // namespace

std::vector<Track> make_tracks(const std::vector<trace::ThreadEvents>& threads) {
  std::map<int, Track> by_id;
  for (const trace::ThreadEvents& thread : threads) {
    Track& track = by_id[thread.thread_id];
    track.thread_id = thread.thread_id;
    if (track.name.empty()) {
      track.name = thread.thread_name;
    } else if (track.name != thread.thread_name && !track.name.ends_with(" ...")) {
      track.name += " ...";
    }
    add_events(track, thread.events);
  }
  std::vector<Track> tracks;
  for (auto& [id, track] : by_id) {
    sort_and_nest(track);
    tracks.push_back(std::move(track));
  }
  std::sort(tracks.begin(), tracks.end(),
            [](const Track& a, const Track& b) { return display_order(a) < display_order(b); });
  return tracks;
}

std::vector<FlowPoint> make_flows(const std::vector<Track>& tracks) {
  std::vector<FlowPoint> points;
  for (const Track& track : tracks) {
    for (const Event& event : track.flow_ends) {
      if (!inside_a_span(track, event.start_ns)) continue;
      points.push_back({event.value, event.start_ns, track.thread_id, event.kind == Kind::flow_begin, event.name});
    }
  }
  std::sort(points.begin(), points.end(), [](const FlowPoint& a, const FlowPoint& b) {
    return std::tuple(a.id, a.time_ns, !a.begin, a.thread_id) < std::tuple(b.id, b.time_ns, !b.begin, b.thread_id);
  });
  std::vector<FlowPoint> whole;
  for (auto at = points.begin(); at != points.end();) {
    const auto next = std::find_if(at, points.end(), [&](const FlowPoint& point) { return point.id != at->id; });
    const auto first = std::find_if(at, next, [](const FlowPoint& point) { return point.begin; });
    const auto last = std::find_if(std::make_reverse_iterator(next), std::make_reverse_iterator(first),
                                   [](const FlowPoint& point) { return !point.begin; });
    if (last.base() - first >= 2) {
      const size_t from = whole.size();
      whole.insert(whole.end(), first, last.base());
      for (size_t i = from; i < whole.size(); ++i) whole[i].name = whole[from].name;
      whole[from].phase = 's';
      whole.back().phase = 'f';
    }
    at = next;
  }
  return whole;
}

}  // namespace headpond::internal
