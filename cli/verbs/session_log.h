// SPDX-License-Identifier: Apache-2.0
// The RunLog of a call of the program: in the session's folder, closed when the program hangs after Ctrl-C.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "headpond/base/json.h"
#include "headpond/base/status.h"
#include "headpond/monitor/run_log.h"

namespace headpond::cli {

class Session;

/// At most one exists at a time.
class SessionLog {
 public:
  /// In the session's folder, or in its subfolder `part`, which TensorBoard shows as a run. Timelines are written in
  /// both formats, and on SIGUSR2.
  static Result<SessionLog> open(Session& session, const std::string& part = "", RunLogOptions options = {});
  /// None, unless the command line names a folder.
  static Result<std::optional<SessionLog>> open_if_named(Session& session);
  SessionLog(SessionLog&& other) noexcept = default;
  SessionLog& operator=(SessionLog&& other) = delete;
  ~SessionLog();

  /// Closes it. Its errors are warnings already: a disk that is full ends no run.
  void end() const { (void)log_->close(); }
  RunLog* get() const { return log_.get(); }
  RunLog* operator->() const { return log_.get(); }

 private:
  SessionLog(Session& session, std::unique_ptr<RunLog> log);
  Session* session_;
  std::unique_ptr<RunLog> log_;
};

/// The members "logdir", "tensorboard", "timeline" (the first one) and "timelines".
void write_files(JsonWriter& json, const std::string& folder, const std::vector<RunFiles>& files);
/// Prints where the files are.
void announce(const Session& session, const std::string& folder, const std::vector<RunFiles>& files);

/// Prints the verdict of each pipeline that has one.
void say_verdicts(const Session& session, const std::vector<PipelineRecord>& pipelines);
/// A member "verdicts": an array of objects, with the pipeline's name and the members of its verdict.
void write_verdicts(JsonWriter& json, const std::vector<PipelineRecord>& pipelines);

/// Prints the verdicts of a closed log and where its files are. The report has `members`, then those of verdicts and
/// files.
Report told(const Session& session, const SessionLog& log, std::function<void(JsonWriter&)> members);

/// Fails with `error`. If Ctrl-C or SIGTERM ended the run, the JSON object has "interrupted", then what the report
/// of told() would have.
Result<Report> ended_early(Session& session, const SessionLog& log, const Error& error,
                           std::function<void(JsonWriter&)> members);

}  // namespace headpond::cli
