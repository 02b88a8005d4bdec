// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/run_log.h"

#include <fmt/core.h>

#include <utility>

#include "cli/session.h"
#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/timeline.h"

namespace headpond::cli {

Result<std::unique_ptr<RunLog>> RunLog::open(Session& session, TimelineLimits limits) {
  auto folder = session.folder();
  if (!folder) return fail(folder.error());
  return std::unique_ptr<RunLog>(new RunLog(session, std::move(*folder), limits));
}

RunLog::RunLog(Session& session, std::string folder, TimelineLimits limits)
    : session_(session), folder_(std::move(folder)) {
  trace::start(limits.events_per_thread);
  limit_ = Thread("timeline", [this, until = std::chrono::steady_clock::now() + limits.length] {
    MutexLock lock(mu_);
    while (recording_ && ended_.wait_until(mu_, until)) continue;
    trace::stop();
  });
  session_.interrupt().set_last_words([this] {
    (void)close();
    (void)session_.write_json([](JsonWriter& json) { json.member("interrupted", true); });
  });
}

RunLog::~RunLog() {
  session_.interrupt().set_last_words({});
  if (auto closed = close(); !closed) log(LogLevel::error, closed.error().to_string());
}

RunFiles RunLog::files() const {
  RunFiles files{.folder = folder_, .tensorboard = {}, .timeline = timeline()};
  MutexLock lock(mu_);
  for (const auto& writer : writers_) files.tensorboard.push_back(writer->path());
  return files;
}

Result<EventWriter*> RunLog::events(const std::string& part) {
  auto writer = EventWriter::open(part.empty() ? folder_ : folder_ + "/" + part);
  if (!writer) return fail(writer.error());
  MutexLock lock(mu_);
  writers_.push_back(std::move(*writer));
  return writers_.back().get();
}

void RunLog::end_timeline() {
  {
    MutexLock lock(mu_);
    recording_ = false;
    ended_.notify_all();
  }
  trace::stop();
}

Result<void> RunLog::close() {
  end_timeline();
  MutexLock lock(mu_);
  if (std::exchange(closed_, true)) return {};
  Result<void> first;
  for (const auto& writer : writers_) {
    if (auto done = writer->close(); !done && first) first = std::move(done);
  }
  if (auto report = write_timeline(timeline()); !report && first) first = fail(report.error());
  return first;
}

void RunLog::announce() const {
  session_.say(fmt::format("TensorBoard log: {0} (tensorboard --logdir {0})", folder_));
  session_.say(fmt::format("timeline of the first seconds: {} (open it at https://ui.perfetto.dev)", timeline()));
}

void write_files(JsonWriter& json, const RunFiles& files) {
  json.member("logdir", files.folder).key("tensorboard").begin_array();
  for (const std::string& path : files.tensorboard) json.value(path);
  json.end_array().member("timeline", files.timeline);
}

}  // namespace headpond::cli
