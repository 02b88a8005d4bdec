// SPDX-License-Identifier: Apache-2.0
// The files of one run: TensorBoard events and a timeline.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "headpond/base/json.h"
#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/base/thread.h"
#include "headpond/monitor/events.h"

namespace headpond::cli {

class Session;

/// The timeline shows only the beginning of the run. Recording costs about 0.1 us an event, a few us a step; after the
/// limits it costs nothing.
struct TimelineLimits {
  std::chrono::seconds length{20};
  size_t events_per_thread = size_t{1} << 14;
};

struct RunFiles {
  std::string folder;
  std::vector<std::string> tensorboard;
  std::string timeline;
};
/// The members "logdir", "tensorboard", "timeline".
void write_files(JsonWriter& json, const RunFiles& files);

/// At most one exists at a time. When the program hangs after Ctrl-C, the files are closed as by close(). Thread-safe.
class RunLog {
 public:
  /// Creates the session's folder and starts to record.
  static Result<std::unique_ptr<RunLog>> open(Session& session, TimelineLimits limits = {});
  /// Calls close() and logs its error.
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  /// The files opened so far.
  RunFiles files() const HEADPOND_EXCLUDES(mu_);

  /// Opens a file in the subfolder `part` of the run's folder, or in the run's folder iff `part` is empty. TensorBoard
  /// shows each part as a run. The writer lives as long as the log.
  Result<EventWriter*> events(const std::string& part = "") HEADPOND_EXCLUDES(mu_);
  /// Ends the recording before its limits are reached.
  void end_timeline() HEADPOND_EXCLUDES(mu_);
  /// Closes the event files and writes the timeline; later calls do nothing. Returns the first error.
  Result<void> close() HEADPOND_EXCLUDES(mu_);
  /// Prints where the files are.
  void announce() const;

 private:
  RunLog(Session& session, std::string folder, TimelineLimits limits);
  std::string timeline() const { return folder_ + "/timeline.json"; }

  Session& session_;
  const std::string folder_;
  mutable Mutex mu_;
  CondVar ended_;
  std::vector<std::unique_ptr<EventWriter>> writers_ HEADPOND_GUARDED_BY(mu_);
  bool recording_ HEADPOND_GUARDED_BY(mu_) = true;
  bool closed_ HEADPOND_GUARDED_BY(mu_) = false;
  Thread limit_;  // Last: it uses the above.
};

}  // namespace headpond::cli
