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

/// The timeline shows the run's beginning only: so long, and so many events of each thread. Recording costs about 0.1
/// us an event, a few us a step; what comes later costs nothing.
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

/// One at a time in a process. When the program is stuck after Ctrl-C, the files are closed as by close(). Thread-safe
/// but for events().
class RunLog {
 public:
  /// Takes the session's folder and begins to record.
  static Result<std::unique_ptr<RunLog>> open(Session& session, TimelineLimits limits = {});
  /// As close(); an error is logged.
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  /// What was opened so far.
  RunFiles files() const;

  /// A new file in the folder `part` of the run's folder, or in that itself iff `part` is empty; TensorBoard shows each
  /// part as a run. It lives as long as the log.
  Result<EventWriter*> events(const std::string& part = "");
  /// Ends the recording before its time.
  void end_timeline();
  /// Closes the event files and writes the timeline; later calls do nothing. The first error.
  Result<void> close() HEADPOND_EXCLUDES(mu_);
  /// Tells people where the files are.
  void announce() const;

 private:
  RunLog(Session& session, std::string folder, TimelineLimits limits);

  Session& session_;
  const std::string folder_;
  std::vector<std::unique_ptr<EventWriter>> writers_;
  Mutex mu_;
  CondVar ended_;
  bool recording_ HEADPOND_GUARDED_BY(mu_) = true;
  bool closed_ HEADPOND_GUARDED_BY(mu_) = false;
  Thread limit_;  // Last: it uses the above.
};

}  // namespace headpond::cli
