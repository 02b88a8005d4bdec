// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/timeline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "headpond/base/json.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/monitor/perfetto_timeline_internal.h"
#include "headpond/monitor/timeline_tracks_internal.h"

namespace headpond {
namespace {

using internal::FlowPoint;
using internal::Track;
using trace::Event;

constexpr size_t kPiece = size_t{1} << 20;

/// A new file beside `path`, which takes its place at commit() and vanishes otherwise.
class Replacement {
 public:
  explicit Replacement(const std::string& path) : path_(path), replaced_(find_replaced(path)) {
    if (!replaced_) return;
    temporary_ = replaced_->is_special ? path : fmt::format("{}.{}", replaced_->path, getpid());
    const int flags = replaced_->is_special ? 0 : O_CREAT | O_EXCL;
    const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0) return;
    made_ = !replaced_->is_special;
    if (replaced_->mode) fchmod(fd, *replaced_->mode);          // Else it has the mode of a new file.
    file_ = gzdopen(fd, path.ends_with(".gz") ? "wb" : "wbT");  // T: as it is, not compressed
    if (file_ == nullptr) close(fd);
  }
  ~Replacement() {
    if (file_ != nullptr) gzclose(file_);
    if (made_) unlink(temporary_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  Result<void> write(std::string_view text) {
    if (!replaced_) return fail(replaced_.error());
    if (file_ == nullptr) return failure("make");
    if (!text.empty() && gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) <= 0) return failure("write");
    return {};
  }

  Result<void> commit() {
    const int closed = gzclose(std::exchange(file_, nullptr));
    if (closed != Z_OK) return failure("write");
    if (made_ && rename(temporary_.c_str(), replaced_->path.c_str()) != 0) return failure("rename");
    made_ = false;
    return {};
  }

 private:
  tl::unexpected<Error> failure(std::string_view action) const {
    const int error_number = errno;  // Before formatting, which allocates.
    return fail(file_error(fmt::format("{} the timeline", action), path_, error_number));
  }

  const std::string path_;
  const Result<ReplacedFile> replaced_;
  std::string temporary_;
  bool made_ = false;
  gzFile file_ = nullptr;
};

/// Writes events as JSON, a piece of the file at a time.
class Timeline {
 public:
  Timeline(const std::string& path, int64_t origin_ns) : file_(path), origin_ns_(origin_ns) {
    json_.begin_object().member("displayTimeUnit", "ms").key("traceEvents").begin_array();
  }

  Result<void> metadata(std::string_view what, int thread_id, std::string_view key, const auto& value) {
    begin(what, "M", thread_id).key("args").begin_object().member(key, value).end_object();
    return end();
  }
  Result<void> span(const Event& event, int thread_id) {
    begin_of_category(event, "X", thread_id).key("dur").raw(micros(event.length_ns));
    args(event);
    return end();
  }
  Result<void> instant(const Event& event, int thread_id) {
    begin_of_category(event, "i", thread_id).member("s", "t");
    args(event);
    return end();
  }
  Result<void> counter(const Event& event, int thread_id) {
    begin(event.name, "C", thread_id).key("ts").raw(micros(event.start_ns - origin_ns_));
    json_.key("args").begin_object().member("size", static_cast<int64_t>(event.value)).end_object();
    return end();
  }
  Result<void> flow(const FlowPoint& point) {
    begin(point.name, std::string_view(&point.phase, 1), point.thread_id).member("cat", "DataFlow");
    json_.key("id").raw(identity(point.id)).key("ts").raw(micros(point.time_ns - origin_ns_));
    if (point.phase != 's') json_.member("bp", "e");
    return end();
  }

  Result<void> finish(const TimelineReport& report) {
    json_.end_array().key("otherData").begin_object().member("dropped_events", report.dropped_events);
    json_.member("flow_ends_left_out", report.flow_ends_left_out).member("spans_cut", report.spans_cut);
    json_.member("origin_ns", origin_ns_).end_object().end_object();
    HEADPOND_TRY(file_.write(json_.take()));
    HEADPOND_TRY(file_.write("\n"));
    return file_.commit();
  }

 private:
  JsonWriter& begin(std::string_view name, std::string_view phase, int thread_id) {
    json_.begin_object().member("name", name.empty() ? "unnamed" : name).member("ph", phase);
    return json_.member("pid", pid_).member("tid", thread_id);
  }
  JsonWriter& begin_of_category(const Event& event, std::string_view phase, int thread_id) {
    static constexpr std::array<const char*, 4> kNames = {"op", "io", "wait", "step"};
    begin(event.name, phase, thread_id).member("cat", kNames.at(static_cast<size_t>(event.category)));
    return json_.key("ts").raw(micros(event.start_ns - origin_ns_));
  }
  void args(const Event& event) {
    if (event.args.names == nullptr) return;
    json_.key("args").begin_object();
    internal::for_each_arg(
        event, [this](const char* name, const char* text) { json_.member(name, text); },
        [this](const char* name, int64_t value) { json_.member(name, value); });
    json_.end_object();
  }
  Result<void> end() {
    json_.end_object();
    if (json_.text().size() < kPiece) return {};
    return file_.write(json_.take());
  }
  // A text where viewers, which know only doubles, would take two ids for one.
  static std::string identity(uint64_t id) {
    return id < uint64_t{1} << 53 ? fmt::format("{}", id) : fmt::format("\"{:#x}\"", id);
  }
  static std::string micros(int64_t ns) {
    return ns % 1000 == 0 ? fmt::format("{}", ns / 1000) : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }

  Replacement file_;
  JsonWriter json_;
  const int64_t origin_ns_;
  const int pid_ = getpid();
};

int64_t first_start(const std::vector<trace::ThreadEvents>& threads) {
  int64_t first = INT64_MAX;
  for (const trace::ThreadEvents& thread : threads) {
    for (const Event& event : thread.events) first = std::min(first, event.start_ns);
  }
  return first == INT64_MAX ? 0 : first;
}

TimelineReport report_of(const std::vector<trace::ThreadEvents>& threads, const std::vector<Track>& tracks,
                         const std::vector<FlowPoint>& flows) {
  TimelineReport report;
  for (const trace::ThreadEvents& thread : threads) report.dropped_events += static_cast<int64_t>(thread.dropped);
  for (const Track& track : tracks) {
    ++report.threads;
    report.spans += std::ssize(track.spans);
    report.counters += std::ssize(track.counters);
    report.instants += std::ssize(track.instants);
    report.spans_cut += track.spans_cut;
    report.flow_ends_left_out += std::ssize(track.flow_ends);
  }
  report.flow_ends_left_out -= std::ssize(flows);
  report.flows = std::count_if(flows.begin(), flows.end(), [](const FlowPoint& point) { return point.phase == 's'; });
  return report;
}

Result<void> write_metadata(Timeline& timeline, const std::vector<Track>& tracks, const std::string& process_name) {
  HEADPOND_TRY(timeline.metadata("process_name", getpid(), "name", process_name));
  HEADPOND_TRY(timeline.metadata("process_sort_index", getpid(), "sort_index", 0));
  int64_t order = 0;
  for (const Track& track : tracks) {
    HEADPOND_TRY(timeline.metadata("thread_name", track.thread_id, "name", track.name));
    HEADPOND_TRY(timeline.metadata("thread_sort_index", track.thread_id, "sort_index", order++));
  }
  return {};
}

bool is_perfetto(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".pftrace") || path.ends_with(".perfetto-trace");
}

}  // namespace

Result<TimelineReport> write_timeline(const std::string& path, const std::vector<trace::ThreadEvents>& threads,
                                      const TimelineOptions& options) {
  if (path.empty()) return fail(ErrorKind::InvalidArgument, "write_timeline(): path='': must name a file");
  const std::vector<Track> tracks = internal::make_tracks(threads);
  const std::vector<FlowPoint> flows = internal::make_flows(tracks);
  const TimelineReport report = report_of(threads, tracks, flows);
  const int64_t origin_ns = first_start(threads);
  if (is_perfetto(path)) {
    Replacement file(path);
    HEADPOND_TRY(internal::write_perfetto(tracks, flows, origin_ns, options.process_name,
                                          [&](std::string_view piece) { return file.write(piece); }));
    HEADPOND_TRY(file.commit());
    return report;
  }
  Timeline timeline(path, origin_ns);
  HEADPOND_TRY(write_metadata(timeline, tracks, options.process_name));
  for (const Track& track : tracks) {
    for (const Event& event : track.spans) HEADPOND_TRY(timeline.span(event, track.thread_id));
    for (const Event& event : track.instants) HEADPOND_TRY(timeline.instant(event, track.thread_id));
    for (const Event& event : track.counters) HEADPOND_TRY(timeline.counter(event, track.thread_id));
  }
  for (const FlowPoint& point : flows) HEADPOND_TRY(timeline.flow(point));
  HEADPOND_TRY(timeline.finish(report));
  return report;
}

Result<TimelineReport> write_timeline(const std::string& path, const TimelineOptions& options) {
  return write_timeline(path, trace::collect(), options);
}

}  // namespace headpond
