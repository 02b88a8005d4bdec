// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <string_view>
#include <utility>

#include "headpond/monitor/run/run_trace_internal.h"
#include "headpond/monitor/timeline.h"

namespace headpond::internal {
namespace {

// The log whose timeline the trace is.
std::atomic<const void*> owner = nullptr;

// How many times the signal came. A handler may do no more.
std::atomic<int> signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void count_signal(int) { signals.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

class RunTrace::SignalHandler {
 public:
  explicit SignalHandler(int number) : number_(number), seen_(signals) {
    struct sigaction action = {};
    action.sa_handler = count_signal;
    action.sa_flags = SA_RESTART;
    is_set_ = sigaction(number, &action, &before_) == 0;
  }
  ~SignalHandler() {
    if (is_set_) sigaction(number_, &before_, nullptr);
  }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  /// Whether it came since the call before.
  bool came() { return std::exchange(seen_, signals) != seen_; }

 private:
  const int number_;
  int seen_;
  bool is_set_ = false;
  struct sigaction before_ = {};
};

RunTrace::RunTrace(std::string folder, const TraceOptions& options) : folder_(std::move(folder)), options_(options) {
  if (folder_.empty() || !options_.is_on) return;
  owner = this;
  if (options_.signal > 0) signal_ = std::make_unique<SignalHandler>(options_.signal);
  if (!has_steps()) step_is(0);
}

RunTrace::~RunTrace() = default;

bool RunTrace::is_owner() const { return owner == this; }

void RunTrace::step_is(int64_t step) {
  const Stage stage = stage_.load(std::memory_order_relaxed);
  if (stage > Stage::recording || !is_owner()) return;
  if (stage == Stage::before && (!has_steps() || step >= options_.steps.from)) {
    stage_ = Stage::recording;
    trace::start(options_.events_per_thread, options_.keep);
  }
  if (!has_steps() || step <= options_.steps.to) return;
  trace::stop();
  stage_ = Stage::recorded;
}

// The same events in each file.
Result<void> RunTrace::write(const std::string& stem) const {
  const auto threads = trace::collect();
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
    HEADPOND_TRY(write(chosen()));
    has_file_ = true;
  }
  return signal_ && signal_->came() ? write("timeline-" + std::to_string(step)) : Result<void>();
}

Result<void> RunTrace::finish() {
  signal_.reset();
  if (const void* self = this; !owner.compare_exchange_strong(self, nullptr)) return {};
  const Stage stage = stage_.exchange(Stage::written);
  if (stage == Stage::recording) trace::stop();
  if (stage != Stage::recording && stage != Stage::recorded) return {};
  auto written = write(has_steps() ? chosen() : "timeline");
  has_file_ = written.has_value();
  return written;
}

std::string RunTrace::path() const {
  if (!has_file_ && !is_owner()) return "";
  return named(has_steps() ? chosen() : "timeline") + (options_.files == TimelineFiles::json_gz ? ".json.gz" : ".json");
}

}  // namespace headpond::internal
