// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/hooks.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/monitor/recording.h"
#include "headpond/monitor/timeline.h"

namespace headpond {
namespace {

[[noreturn]] void refuse(const std::string& who, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", who, what)));
}

class StopAtStep final : public Hook {
 public:
  explicit StopAtStep(const StopAtStepOptions& options) : options_(options) {
    if (options.num_steps.has_value() == options.last_step.has_value())
      refuse("stop_at_step_hook", "exactly one of num_steps and last_step must be given");
  }
  std::string_view name() const override { return "stop_at_step"; }
  Result<void> begin(HookContext& context) override {
    last_ = options_.last_step.value_or(context.step + options_.num_steps.value_or(0));
    return look(context);
  }
  Result<void> after_run(HookContext& context, double, const Metrics&) override { return look(context); }

 private:
  Result<void> look(HookContext& context) const {
    if (context.step >= last_) context.request_stop(fmt::format("stop_at_step_hook: step {} was the last one", last_));
    return {};
  }
  const StopAtStepOptions options_;
  int64_t last_ = 0;
};

class StepCounter final : public Hook {
 public:
  StepCounter(const Every& every, HookClock clock) : timer_("step_counter_hook", every, std::move(clock)) {}
  std::string_view name() const override { return "step_counter"; }
  Result<void> begin(HookContext& context) override {
    timer_.reset(context.step);
    return {};
  }
  Result<void> after_run(HookContext& context, double, const Metrics&) override {
    if (!timer_.is_due(context.step)) return {};
    const auto since = timer_.mark(context.step);
    if (!since || since->seconds <= 0) return {};
    return context.scalar("global_step/sec", static_cast<double>(since->steps) / since->seconds);
  }
  Result<void> evaluated(HookContext&, const Evaluation& evaluation) override {
    timer_.leave_out(evaluation.seconds);
    return {};
  }

 private:
  EveryTimer timer_;
};

class Logging final : public Hook {
 public:
  Logging(const Every& every, HookClock clock) : timer_("logging_hook", every, std::move(clock)) {}
  std::string_view name() const override { return "logging"; }
  Result<void> after_run(HookContext& context, double loss, const Metrics& metrics) override {
    if (!timer_.is_due(context.step)) return {};
    const auto since = timer_.mark(context.step);
    std::string line = fmt::format("step {}: loss {:.6g}", context.step, loss);
    for (const auto& [name, metric] : metrics) line += fmt::format(", {} {:.6g}", name, metric.value());
    if (since && since->seconds > 0)
      line += fmt::format(" ({:.4g} steps/s)", static_cast<double>(since->steps) / since->seconds);
    log(LogLevel::info, line);
    return {};
  }
  Result<void> evaluated(HookContext&, const Evaluation& evaluation) override {
    timer_.leave_out(evaluation.seconds);
    return {};
  }

 private:
  EveryTimer timer_;
};

class SummarySaver final : public Hook {
 public:
  SummarySaver(const Every& every, HookClock clock) : timer_("summary_saver_hook", every, std::move(clock)) {}
  std::string_view name() const override { return "summary_saver"; }
  Result<void> after_run(HookContext& context, double loss, const Metrics& metrics) override {
    if (context.events == nullptr || !timer_.is_due(context.step)) return {};
    (void)timer_.mark(context.step);
    HEADPOND_TRY(context.scalar("loss", loss));
    for (const auto& [name, metric] : metrics) HEADPOND_TRY(context.scalar(name, metric.value()));
    return {};
  }

 private:
  EveryTimer timer_;
};

class Nan final : public Hook {
 public:
  explicit Nan(bool fails) : fails_(fails) {}
  std::string_view name() const override { return "nan"; }
  Result<void> after_run(HookContext& context, double loss, const Metrics&) override {
    if (!std::isnan(loss)) return {};
    std::string what = fmt::format("nan_hook: the loss of step {} is not a number", context.step);
    if (fails_) return fail(ErrorKind::DataLoss, std::move(what));
    context.request_stop(std::move(what));
    return {};
  }

 private:
  const bool fails_;
};

class Profiler final : public Hook {
 public:
  Profiler(ProfilerOptions options, HookClock clock)
      : options_(std::move(options)), timer_("profiler_hook", options_.every, std::move(clock)) {}
  std::string_view name() const override { return "profiler"; }
  Result<void> begin(HookContext& context) override {
    if (options_.output_dir.empty() && context.model_dir.empty())
      return fail(ErrorKind::InvalidArgument, "profiler_hook: neither output_dir nor a model_dir");
    return {};
  }
  Result<void> before_run(HookContext& context) override {
    if (!timer_.is_due(context.step + 1)) return {};
    recording_.emplace();
    return {};
  }
  Result<void> after_run(HookContext& context, double, const Metrics&) override {
    if (!recording_) return {};
    const std::vector<trace::ThreadEvents> threads = recording_->events();
    recording_.reset();
    (void)timer_.mark(context.step);
    const std::string& folder = options_.output_dir.empty() ? context.model_dir : options_.output_dir;
    auto written = write_timeline(fmt::format("{}/timeline-{}.json", folder, context.step), threads);
    if (!written) log(LogLevel::warning, fmt::format("profiler_hook: {}", written.error().message()));
    return {};
  }
  Result<void> end(HookContext&) override {
    recording_.reset();
    return {};
  }

 private:
  const ProfilerOptions options_;
  EveryTimer timer_;
  std::optional<Recording> recording_;  // Records the step.
};

class EarlyStopping final : public Hook {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {
    if (options_.max_steps_without_decrease < 1)
      refuse("early_stopping_hook", "max_steps_without_decrease must be at least 1");
  }
  std::string_view name() const override { return "early_stopping"; }
  Result<void> evaluated(HookContext& context, const Evaluation& evaluation) override {
    const auto found = evaluation.metrics.find(options_.metric);
    if (found == evaluation.metrics.end())
      return fail(ErrorKind::InvalidArgument, fmt::format("early_stopping_hook: no metric '{}'", options_.metric));
    if (found->second.count == 0) return {};  // It has no value.
    const double value = found->second.value();
    if (value < best_) {
      best_ = value;
      best_step_ = evaluation.step;
    }
    const bool is_over = evaluation.step - best_step_ >= options_.max_steps_without_decrease;
    if (is_over && evaluation.step >= options_.min_steps) {
      context.request_stop(fmt::format("early_stopping_hook: no lower {} than {:.6g} of step {} up to step {}",
                                       options_.metric, best_, best_step_, evaluation.step));
    }
    return {};
  }
  void visit_state(HookState& state) override {
    state.visit("best", best_);
    state.visit("best_step", best_step_);
  }

 private:
  const EarlyStoppingOptions options_;
  double best_ = std::numeric_limits<double>::infinity();
  int64_t best_step_ = 0;
};

}  // namespace

EveryTimer::EveryTimer(const std::string& who, const Every& every, HookClock clock)
    : every_(every), clock_(std::move(clock)) {
  if (every.steps.has_value() == every.seconds.has_value())
    refuse(who, "exactly one of a number of steps and of seconds must be given");
  if (every.steps.value_or(1) < 1 || !(every.seconds.value_or(1) > 0)) refuse(who, "it must be above 0");
}

bool EveryTimer::is_due(int64_t step) const {
  if (!step_) return true;
  if (step <= *step_) return false;
  if (every_.steps) return step >= *step_ + *every_.steps;
  return 1e-9 * static_cast<double>(clock_() - at_ns_) >= *every_.seconds;
}

std::optional<EveryTimer::Since> EveryTimer::mark(int64_t step) {
  const int64_t now = clock_();
  std::optional<Since> since;
  if (step_) since = Since{step - *step_, 1e-9 * static_cast<double>(now - at_ns_)};
  step_ = step;
  at_ns_ = now;
  return since;
}

std::shared_ptr<Hook> stop_at_step_hook(const StopAtStepOptions& options) {
  return std::make_shared<StopAtStep>(options);
}
std::shared_ptr<Hook> step_counter_hook(const Every& every, HookClock clock) {
  return std::make_shared<StepCounter>(every, std::move(clock));
}
std::shared_ptr<Hook> logging_hook(const Every& every, HookClock clock) {
  return std::make_shared<Logging>(every, std::move(clock));
}
std::shared_ptr<Hook> summary_saver_hook(const Every& every, HookClock clock) {
  return std::make_shared<SummarySaver>(every, std::move(clock));
}
std::shared_ptr<Hook> nan_hook(bool fail_on_nan_loss) { return std::make_shared<Nan>(fail_on_nan_loss); }
std::shared_ptr<Hook> profiler_hook(const ProfilerOptions& options, HookClock clock) {
  return std::make_shared<Profiler>(options, std::move(clock));
}
std::shared_ptr<Hook> early_stopping_hook(const EarlyStoppingOptions& options) {
  return std::make_shared<EarlyStopping>(options);
}

}  // namespace headpond
