// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run_log.h"

#include <utility>

#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/engine/verdict/profile.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/run_log_state_internal.h"

namespace headpond {
namespace {

constexpr trace::ArgNames kStepArgs{{"step"}};

PipelineTotals totals_of(const WaitAccount& account) {
  const WaitSummary waits = account.summary();
  return {.calls = waits.calls, .wait_ns = waits.wait_ns};
}

PipelineTotals totals_of(const LoaderStats& stats) {
  return {.steps = stats.batches,
          .elements = stats.elements,
          .bytes = stats.bytes,
          .calls = stats.batches,
          .wait_ns = static_cast<int64_t>(stats.steps.call_ns)};
}

}  // namespace

Result<std::unique_ptr<RunLog>> RunLog::open(const std::string& folder, RunLogOptions options) {
  internal::check({.sample_every = options.sample_every, .write_every = options.write_every});
  internal::check(options.trace);
  auto state = std::make_shared<State>(folder, options);
  HEADPOND_TRY(state->open());
  return std::unique_ptr<RunLog>(new RunLog(std::move(state)));
}

RunLog::~RunLog() {
  if (const auto closed = close(); !closed) log(LogLevel::error, closed.error().to_string());
}

RunLog::Watch RunLog::watch(const Loader& loader, std::string name) {
  const LoaderView view = loader.view();
  return watch(PipelineSource{.name = std::move(name),
                              .totals = [view] { return totals_of(view.stats()); },
                              .verdict = [view] { return view.diagnose(); },
                              .stats = [view] { return view.stats(); },
                              .recent_steps = [view] { return view.recent_steps(); },
                              .plan = view.plan()});
}

RunLog::Watch RunLog::watch(const WaitAccount& account, std::string name) {
  return watch(PipelineSource{.name = std::move(name), .totals = [&account] { return totals_of(account); }});
}

RunLog::Watch RunLog::watch(PipelineSource source) { return Watch(state_, state_->add(std::move(source), {})); }

RunLog::Watch RunLog::watch(QueueSource source) { return Watch(state_, state_->add({}, std::move(source))); }

RunLog::Watch RunLog::watch(const Queue& queue, const WaitAccount& account, QueueUse use, PipelineSource source) {
  if (!source.totals) source.totals = [&account] { return totals_of(account); };
  State* const state = state_.get();
  const auto verdict = [=, &account](int64_t id) -> std::function<Verdict()> {
    return [=, &account]() HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
      return headpond::diagnose(queue, state->queue_of(id), account.summary(), use);
    };
  };
  return Watch(state_, state_->add(std::move(source), queue_source(queue), verdict));
}

RunLog::Step::Step(int64_t number) : span_("step", trace::Category::step, {&kStepArgs, {number}}) {}

RunLog::Step RunLog::step() {
  state_->next_step();
  return Step(state_->own_step());
}

Result<void> RunLog::scalar(std::string_view tag, double value) {
  return events() == nullptr ? Result<void>() : events()->scalar(tag, value, state_->own_step());
}

Result<void> RunLog::text(std::string_view tag, std::string_view markdown) {
  return events() == nullptr ? Result<void>() : events()->text(tag, markdown, state_->own_step());
}

EventWriter* RunLog::events() const { return state_->events(); }

Result<TimelineReport> RunLog::write_timeline(const std::string& path) const {
  const auto events = state_->timeline();
  if (!events) return fail(events.error());
  return headpond::write_timeline(path, *events);
}

Verdict RunLog::diagnose() const {
  const std::vector<PipelineRecord> all = pipelines();
  const PipelineRecord* const most = most_waited_for(all);
  return most != nullptr ? most->verdict : Verdict{.findings = {"nothing is watched"}};
}

Result<std::vector<ProfileRow>> RunLog::profile(const ProfileOptions& options) const {
  const std::vector<PipelineRecord> all = pipelines();
  const PipelineRecord* const most = most_waited_for_with_profile(all);
  return profile_of(most != nullptr ? most->loader : LoaderStats(), options);
}

std::vector<PipelineRecord> RunLog::pipelines() const { return state_->pipelines(); }
RunFiles RunLog::files() const { return state_->files(); }
Result<void> RunLog::close() { return state_->close(); }

RunLog::Watch& RunLog::Watch::operator=(Watch&& other) noexcept {
  reset();
  state_ = std::move(other.state_);
  id_ = other.id_;
  return *this;
}

void RunLog::Watch::reset() {
  if (state_) state_->end(id_);
  state_.reset();
}

QueueSummary RunLog::Watch::queue() const { return state_->queue(id_); }

}  // namespace headpond
