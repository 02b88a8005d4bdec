// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/session_log.h"

#include <fmt/core.h>
#include <signal.h>

#include <utility>

#include "cli/session.h"
#include "headpond/monitor/run/verdict_json.h"

namespace headpond::cli {

Result<SessionLog> SessionLog::open(Session& session, const std::string& part, RunLogOptions options) {
  const auto folder = session.folder();
  if (!folder) return fail(folder.error());
  options.trace.signal = SIGUSR2;
  options.live = true;
  options.trace.files = TimelineFiles::perfetto;
  options.trace.probes = session.common().probes == "every" ? TraceProbes::every : TraceProbes::sampled;
  auto log = RunLog::open(part.empty() ? *folder : *folder + "/" + part, options);
  if (!log) return fail(log.error());
  return SessionLog(session, std::move(*log));
}

Result<std::optional<SessionLog>> SessionLog::open_if_named(Session& session) {
  if (session.common().logdir.empty()) return std::nullopt;
  auto log = open(session);
  if (!log) return fail(log.error());
  return std::optional(std::move(*log));
}

SessionLog::SessionLog(Session& session, std::unique_ptr<RunLog> log) : session_(&session), log_(std::move(log)) {
  session.interrupt().set_last_words([&session, to = log_.get()] {
    (void)to->close();
    (void)session.write_json([](JsonWriter& json) { json.member("interrupted", true); });
  });
}

SessionLog::~SessionLog() {
  if (log_) session_->interrupt().set_last_words({});
}

void write_files(JsonWriter& json, const std::string& folder, const std::vector<RunFiles>& files) {
  json.member("logdir", folder).key("tensorboard").begin_array();
  for (const RunFiles& one : files) json.value(one.events);
  json.end_array().member("timeline", files.empty() ? "" : files.front().timeline).key("timelines").begin_array();
  for (const RunFiles& one : files) json.value(one.timeline);
  json.end_array();
}

void announce(const Session& session, const std::string& folder, const std::vector<RunFiles>& files) {
  session.say(fmt::format("TensorBoard log: {0} (tensorboard --logdir {0})", folder));
  bool has_timeline = false;
  for (const RunFiles& one : files) {
    if (one.timeline.empty()) continue;
    session.say("timeline: " + one.timeline);
    has_timeline = true;
  }
  if (has_timeline) session.say("open a timeline at https://ui.perfetto.dev");
}

void say_verdicts(const Session& session, const std::vector<PipelineRecord>& pipelines) {
  for (const PipelineRecord& one : pipelines) {
    if (!has_verdict(one)) continue;
    std::string text = one.verdict.to_string();
    text.pop_back();
    session.say((one.name.empty() ? "" : "of the " + one.name + ": ") + text);
  }
}

void write_verdicts(JsonWriter& json, const std::vector<PipelineRecord>& pipelines) {
  json.key("verdicts").begin_array();
  for (const PipelineRecord& one : pipelines) {
    if (!has_verdict(one)) continue;
    json.begin_object().member("name", one.name);
    write_verdict(json, one.verdict);
    json.end_object();
  }
  json.end_array();
}

namespace {

Report report_of(const SessionLog& log, std::function<void(JsonWriter&)> members) {
  return Report{
      .members = [members = std::move(members), pipelines = log->pipelines(), files = log->files()](JsonWriter& json) {
        members(json);
        write_verdicts(json, pipelines);
        write_files(json, files.folder, {files});
      }};
}

}  // namespace

Report told(const Session& session, const SessionLog& log, std::function<void(JsonWriter&)> members) {
  const RunFiles files = log->files();
  say_verdicts(session, log->pipelines());
  announce(session, files.folder, {files});
  return report_of(log, std::move(members));
}

Result<Report> ended_early(Session& session, const SessionLog& log, const Error& error,
                           std::function<void(JsonWriter&)> members) {
  if (!session.interrupt().requested()) return fail(error);
  const Report report = report_of(log, std::move(members));
  const auto written = session.write_json([&](JsonWriter& json) {
    json.member("interrupted", true);
    report.members(json);
  });
  if (!written) put_on_stderr("headpond: " + written.error().to_string() + "\n");
  return fail(error);
}

}  // namespace headpond::cli
