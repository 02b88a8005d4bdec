// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <map>
#include <protozero/pbf_writer.hpp>

#include "headpond/monitor/perfetto_timeline_internal.h"

namespace headpond::internal {
namespace {

using protozero::pbf_tag_type;
using protozero::pbf_writer;
using trace::Event;

constexpr size_t kPiece = size_t{1} << 20;

// Field numbers of perfetto.protos.Trace and TracePacket.
constexpr pbf_tag_type kPacket = 1;
constexpr pbf_tag_type kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13, kDescriptor = 60;
constexpr uint32_t kNamesBegin = 1, kNamesAreNeeded = 2;  // Values of kFlags.
// Fields of InternedData, and of its EventCategory and EventName.
constexpr pbf_tag_type kCategories = 1, kNames = 2, kId = 1, kName = 2;
// Fields of TrackDescriptor.
constexpr pbf_tag_type kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
constexpr pbf_tag_type kChildOrder = 11, kRank = 12;
constexpr int32_t kByRank = 3;
// Fields of ProcessDescriptor and ThreadDescriptor, and of CounterDescriptor.
constexpr pbf_tag_type kPid = 1, kProcessName = 6, kTid = 2, kThreadName = 5, kUnit = 3;
constexpr int32_t kCount = 2, kBytes = 3;
// Fields of TrackEvent, and of its DebugAnnotation.
constexpr pbf_tag_type kNumber = 4, kText = 6, kArgName = 10;
constexpr pbf_tag_type kCategoryIds = 3, kArgs = 4, kType = 9, kNameId = 10, kTrack = 11, kValue = 30, kFlows = 47,
                       kLastFlows = 48;
constexpr int32_t kSliceBegins = 1, kSliceEnds = 2, kInstant = 3, kCounterValue = 4;

constexpr uint64_t kProcessUuid = 1, kThreadUuids = uint64_t{1} << 40, kCounterUuids = uint64_t{2} << 40;

uint64_t thread_uuid(int thread_id) { return kThreadUuids + static_cast<uint64_t>(thread_id); }

// Arrows at one span: those that pass it, and those that end in it.
struct Arrows {
  std::vector<uint64_t> through, last;
};

int64_t end_of(const Event& span) { return span.start_ns + span.length_ns; }

// For each span of the track. Its ends of arrows are inside a span, as make_flows() has seen to.
std::vector<Arrows> arrows_of(const Track& track, const std::vector<FlowPoint>& flows) {
  std::multimap<int64_t, const FlowPoint*> by_time;
  for (const FlowPoint& point : flows) {
    if (point.thread_id == track.thread_id) by_time.emplace(point.time_ns, &point);
  }
  std::vector<Arrows> arrows(track.spans.size());
  std::vector<size_t> around;  // Spans that are open, outer before inner.
  size_t next = 0;
  for (const auto& [time, point] : by_time) {
    for (; next < track.spans.size() && track.spans[next].start_ns <= time; ++next) {
      while (!around.empty() && end_of(track.spans[around.back()]) <= track.spans[next].start_ns) around.pop_back();
      around.push_back(next);
    }
    while (around.size() > 1 && end_of(track.spans[around.back()]) < time) around.pop_back();
    if (around.empty()) continue;
    Arrows& of_span = arrows[around.back()];
    (point->phase == 'f' ? of_span.last : of_span.through).push_back(point->id);
  }
  return arrows;
}

class PerfettoWriter {
 public:
  PerfettoWriter(const std::vector<Track>& tracks, int64_t origin_ns,
                 const std::function<Result<void>(std::string_view)>& write)
      : origin_ns_(origin_ns), write_(write) {
    for (const Track& track : tracks) {
      for (const Event& event : track.spans) names_.try_emplace(name_of(event), names_.size() + 1);
      for (const Event& event : track.instants) names_.try_emplace(name_of(event), names_.size() + 1);
      for (const Event& event : track.counters) counters_.try_emplace(name_of(event), kCounterUuids + counters_.size());
    }
  }

  Result<void> names() {
    static constexpr std::array kCategoryNames = {"op", "io", "wait", "step"};
    return packet(kNamesBegin, [&](pbf_writer& packet) {
      pbf_writer interned(packet, kInterned);
      for (size_t i = 0; i < kCategoryNames.size(); ++i) entry(interned, kCategories, i + 1, kCategoryNames.at(i));
      for (const auto& [name, id] : names_) entry(interned, kNames, id, name);
    });
  }

  Result<void> process(std::string_view name) {
    return descriptor(kProcessUuid, [&](pbf_writer& track) {
      track.add_enum(kChildOrder, kByRank);
      pbf_writer process(track, kProcess);
      process.add_int32(kPid, getpid());
      process.add_string(kProcessName, name.data(), name.size());
    });
  }

  Result<void> thread(const Track& of, int32_t rank) {
    return descriptor(thread_uuid(of.thread_id), [&](pbf_writer& track) {
      track.add_uint64(kParent, kProcessUuid);
      track.add_int32(kRank, rank);
      pbf_writer thread(track, kThread);
      thread.add_int32(kPid, getpid());
      thread.add_int32(kTid, of.thread_id);
      thread.add_string(kThreadName, of.name);
    });
  }

  Result<void> counters(int32_t rank) {
    for (const auto& [name, uuid] : counters_) {
      const auto fill = [&, own = rank++, counter_name = name](pbf_writer& track) {
        track.add_uint64(kParent, kProcessUuid);
        track.add_int32(kRank, own);
        track.add_string(kTrackName, counter_name.data(), counter_name.size());
        pbf_writer counter(track, kCounter);
        counter.add_enum(kUnit, counter_name.starts_with("memory/") ? kBytes : kCount);
      };
      HEADPOND_TRY(descriptor(uuid, fill));
    }
    return {};
  }

  // Begins and ends in order of time.
  Result<void> spans(const Track& track, const std::vector<Arrows>& arrows) {
    std::vector<int64_t> ends;
    const auto end_until = [&](int64_t time) -> Result<void> {
      for (; !ends.empty() && ends.back() <= time; ends.pop_back()) {
        HEADPOND_TRY(event(ends.back(), kSliceEnds, thread_uuid(track.thread_id), [](pbf_writer&) {}));
      }
      return {};
    };
    for (size_t i = 0; i < track.spans.size(); ++i) {
      HEADPOND_TRY(end_until(track.spans[i].start_ns));
      HEADPOND_TRY(begin(track.spans[i], track.thread_id, arrows[i]));
      ends.push_back(end_of(track.spans[i]));
    }
    return end_until(INT64_MAX);
  }

  Result<void> instants(const Track& track) {
    for (const Event& one : track.instants) {
      HEADPOND_TRY(event(one.start_ns, kInstant, thread_uuid(track.thread_id),
                         [&](pbf_writer& event) { describe(event, one); }));
    }
    return {};
  }

  Result<void> values(const Track& track) {
    for (const Event& one : track.counters) {
      HEADPOND_TRY(event(one.start_ns, kCounterValue, counters_.at(name_of(one)),
                         [&](pbf_writer& event) { event.add_int64(kValue, static_cast<int64_t>(one.value)); }));
    }
    return {};
  }

  Result<void> finish() { return data_.empty() ? Result<void>() : write_(data_); }

 private:
  static std::string_view name_of(const Event& event) {
    return event.name == nullptr || *event.name == '\0' ? "unnamed" : event.name;
  }

  static void entry(pbf_writer& interned, pbf_tag_type list, uint64_t id, std::string_view name) {
    pbf_writer one(interned, list);
    one.add_uint64(kId, id);
    one.add_string(kName, name.data(), name.size());
  }

  Result<void> begin(const Event& span, int thread_id, const Arrows& arrows) {
    return event(span.start_ns, kSliceBegins, thread_uuid(thread_id), [&](pbf_writer& event) {
      describe(event, span);
      for (const uint64_t id : arrows.through) event.add_fixed64(kFlows, id);
      for (const uint64_t id : arrows.last) event.add_fixed64(kLastFlows, id);
    });
  }

  void describe(pbf_writer& event, const Event& one) const {
    event.add_uint64(kNameId, names_.at(name_of(one)));
    event.add_uint64(kCategoryIds, static_cast<uint64_t>(one.category) + 1);
    for_each_arg(
        one,
        [&event](const char* name, const char* text) {
          pbf_writer arg(event, kArgs);
          arg.add_string(kText, text);
          arg.add_string(kArgName, name);
        },
        [&event](const char* name, int64_t value) {
          pbf_writer arg(event, kArgs);
          arg.add_int64(kNumber, value);
          arg.add_string(kArgName, name);
        });
  }

  Result<void> event(int64_t time_ns, int32_t type, uint64_t track, const auto& fill) {
    return packet(kNamesAreNeeded, [&](pbf_writer& packet) {
      packet.add_uint64(kTimestamp, static_cast<uint64_t>(time_ns - origin_ns_));
      pbf_writer event(packet, kTrackEvent);
      event.add_enum(kType, type);
      event.add_uint64(kTrack, track);
      fill(event);
    });
  }

  Result<void> descriptor(uint64_t uuid, const auto& fill) {
    return packet(kNamesAreNeeded, [&](pbf_writer& packet) {
      pbf_writer track(packet, kDescriptor);
      track.add_uint64(kUuid, uuid);
      fill(track);
    });
  }

  Result<void> packet(uint32_t flags, const auto& fill) {
    {
      pbf_writer trace(data_);
      pbf_writer packet(trace, kPacket);
      packet.add_uint32(kSequence, 1);
      packet.add_uint32(kFlags, flags);
      fill(packet);
    }
    if (data_.size() < kPiece) return {};
    auto written = write_(data_);
    data_.clear();
    return written;
  }

  const int64_t origin_ns_;
  const std::function<Result<void>(std::string_view)>& write_;
  std::map<std::string_view, uint64_t> names_, counters_;  // Their ids in the file.
  std::string data_;
};

}  // namespace

Result<void> write_perfetto(const std::vector<Track>& tracks, const std::vector<FlowPoint>& flows, int64_t origin_ns,
                            std::string_view process_name, const std::function<Result<void>(std::string_view)>& write) {
  PerfettoWriter file(tracks, origin_ns, write);
  HEADPOND_TRY(file.names());
  HEADPOND_TRY(file.process(process_name));
  int32_t rank = 0;
  for (const Track& track : tracks) HEADPOND_TRY(file.thread(track, rank++));
  HEADPOND_TRY(file.counters(rank));
  for (const Track& track : tracks) {
    HEADPOND_TRY(file.spans(track, arrows_of(track, flows)));
    HEADPOND_TRY(file.instants(track));
    HEADPOND_TRY(file.values(track));
  }
  return file.finish();
}

}  // namespace headpond::internal
