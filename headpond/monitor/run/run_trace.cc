// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <csignal>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/monitor/recording.h"
#include "headpond/monitor/run/run_trace_internal.h"
#include "headpond/monitor/timeline.h"

namespace headpond::internal {
namespace {

// The log whose timeline the trace is, and its part of the trace.
struct Owned {
  Mutex mu;
  std::atomic<const void*> owner = nullptr;  // Changed under the lock.
  std::optional<Recording> recording HEADPOND_GUARDED_BY(mu);

  void pass_to(const void* next) HEADPOND_REQUIRES(mu) {
    owner = next;
    end();
  }
  void begin(const TraceOptions& options) HEADPOND_REQUIRES(mu) {
    recording.emplace(options.events_per_thread, options.keep);
    trace::internal::probes_every = options.probes == TraceProbes::every;
  }
  void end() HEADPOND_REQUIRES(mu) {
    trace::internal::probes_every = false;
    recording.reset();
  }
};

// Never destroyed: a log may end while the program ends.
Owned& owned() {
  static auto* const instance = new Owned;
  return *instance;
}

// How many times the signal came. A handler may do no more.
std::atomic<int> signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void count_signal(int) { signals.fetch_add(1, std::memory_order_relaxed); }

// What each signal did before the first of the objects that look for it now.
struct Replaced {
  int users = 0;
  struct sigaction before = {};
};
struct Handlers {
  Mutex mu;
  std::map<int, Replaced> replaced HEADPOND_GUARDED_BY(mu);
};

Handlers& handlers() {
  static auto* const instance = new Handlers;
  return *instance;
}

}  // namespace

class RunTrace::SignalHandler {
 public:
  explicit SignalHandler(int number) : number_(number), seen_(signals) {
    struct sigaction action = {};
    action.sa_handler = count_signal;
    action.sa_flags = SA_RESTART;
    MutexLock lock(handlers().mu);
    Replaced& here = handlers().replaced[number];
    if (here.users++ == 0 && sigaction(number, &action, &here.before) != 0) {
      handlers().replaced.erase(number);
      is_set_ = false;
    }
  }
  ~SignalHandler() {
    MutexLock lock(handlers().mu);
    const auto here = handlers().replaced.find(number_);
    if (!is_set_ || --here->second.users > 0) return;
    sigaction(number_, &here->second.before, nullptr);
    handlers().replaced.erase(here);
  }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  /// Whether it came since the call before.
  bool came() { return std::exchange(seen_, signals) != seen_; }

 private:
  const int number_;
  int seen_;
  bool is_set_ = true;
};

void check(const TraceOptions& options) {
  const int number = options.signal;
  struct sigaction now = {};
  const bool can_be_handled = number != SIGKILL && number != SIGSTOP && sigaction(number, nullptr, &now) == 0;
  if (number != 0 && !can_be_handled)
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              fmt::format("RunLog: trace on signal {}: must be a signal that a program can handle, or 0", number)));
}

RunTrace::RunTrace(std::string folder, const TraceOptions& options) : folder_(std::move(folder)), options_(options) {
  if (folder_.empty() || !options_.is_on) return;
  {
    MutexLock lock(owned().mu);
    owned().pass_to(this);
  }
  if (options_.signal > 0) signal_ = std::make_unique<SignalHandler>(options_.signal);
  if (!has_steps()) step_is(0);
}

RunTrace::~RunTrace() {
  MutexLock lock(owned().mu);
  if (is_owner()) owned().pass_to(nullptr);
}

bool RunTrace::is_owner() const { return owned().owner == this; }

void RunTrace::step_is(int64_t step) {
  const bool has_begun = !has_steps() || step >= options_.steps.from,
             has_ended = has_steps() && step > options_.steps.to;
  const auto is_changed = [&] {
    const Stage stage = stage_.load(std::memory_order_relaxed);
    return is_owner() && (stage == Stage::before ? has_begun : stage == Stage::recording && has_ended);
  };
  if (!is_changed()) return;
  Owned& all = owned();
  MutexLock lock(all.mu);
  if (!is_changed()) return;
  if (!all.recording) all.begin(options_);
  if (has_ended) {
    recorded_ = all.recording->events();
    all.end();
  }
  stage_ = has_ended ? Stage::recorded : Stage::recording;
}

// So far, or of the chosen steps.
std::vector<trace::ThreadEvents> RunTrace::events(bool is_end) const {
  Owned& all = owned();
  MutexLock lock(all.mu);
  if (!is_owner()) return {};
  std::vector<trace::ThreadEvents> threads = all.recording ? all.recording->events() : recorded_;
  if (is_end) all.pass_to(nullptr);
  return threads;
}

Result<std::vector<trace::ThreadEvents>> RunTrace::so_far() const {
  const char* const why = !options_.is_on   ? "it was opened without a trace"
                          : folder_.empty() ? "it has no folder"
                          : !is_owner()     ? "it was closed, or a log that was opened later records the timeline"
                                            : nullptr;
  if (why != nullptr) return fail(ErrorKind::FailedPrecondition, fmt::format("RunLog records no timeline: {}", why));
  return events();
}

// The same events in each file.
Result<void> RunTrace::write(const std::string& stem, const std::vector<trace::ThreadEvents>& threads) const {
  const std::string_view json = options_.files == TimelineFiles::json_gz ? ".json.gz" : ".json";
  if (auto report = write_timeline(named(stem).append(json), threads); !report) return fail(report.error());
  if (options_.files != TimelineFiles::perfetto) return {};
  if (auto report = write_timeline(named(stem) + ".pftrace", threads); !report) return fail(report.error());
  return {};
}

Result<void> RunTrace::write_asked(int64_t step) {
  if (!is_owner()) return {};
  if (stage_ == Stage::recorded) {
    stage_ = Stage::written;
    HEADPOND_TRY(write(chosen(), events()));
    has_file_ = true;
  }
  return signal_ && signal_->came() ? write("timeline-" + std::to_string(step), events()) : Result<void>();
}

Result<void> RunTrace::finish() {
  signal_.reset();
  if (!is_owner()) return {};
  const std::vector<trace::ThreadEvents> threads = events(true);
  const Stage stage = stage_.exchange(Stage::written);
  if (stage != Stage::recording && stage != Stage::recorded) return {};
  auto written = write(has_steps() ? chosen() : "timeline", threads);
  has_file_ = written.has_value();
  return written;
}

std::string RunTrace::path() const {
  if (!has_file_ && !is_owner()) return "";
  return named(has_steps() ? chosen() : "timeline") + (options_.files == TimelineFiles::json_gz ? ".json.gz" : ".json");
}

}  // namespace headpond::internal
