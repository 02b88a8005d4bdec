// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/log.h"
#include "headpond/dataset/node.h"
#include "headpond/dataset/run_state.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/monitor/events.h"
#include "headpond/train/loop/hooks.h"

namespace headpond {
namespace {

constexpr double kSaveSecs = 600;
constexpr const char* kData = "data.state";
constexpr const char* kHooks = "hooks.json";

[[noreturn]] void refuse(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "train_and_evaluate: " + what));
}

template <class Pointer>
void refuse_null(const char* what, const std::vector<Pointer>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) refuse(fmt::format("{}[{}] is null", what, i));
  }
}

void check_exporters(const RunConfig& config, const EvalSpec& eval) {
  refuse_null("EvalSpec::exporters", eval.exporters);
  if (!eval.exporters.empty() && config.model_dir.empty()) refuse("exporters need a model_dir");
  std::set<std::string_view> names;
  for (const auto& exporter : eval.exporters) {
    if (!names.insert(exporter->name()).second)
      refuse(fmt::format("two exporters are named '{}', and would write the same files", exporter->name()));
  }
}

void check(const RunConfig& config, const TrainSpec& train, const EvalSpec& eval) {
  if (config.save_steps && config.save_secs) refuse("save_steps and save_secs exclude each other");
  if (config.keep < 1) refuse(fmt::format("keep={}: must be at least 1", config.keep));
  if (config.log_steps < 0 || config.summary_steps < 0) refuse("log_steps and summary_steps must not be negative");
  if (train.max_steps.value_or(1) < 1) refuse(fmt::format("max_steps={}: must be above 0", *train.max_steps));
  if (eval.steps.value_or(1) < 1) refuse(fmt::format("steps={} of the evaluation: must be above 0", *eval.steps));
  if (!(eval.throttle_secs >= 0)) refuse(fmt::format("throttle_secs={}: must be at least 0", eval.throttle_secs));
  if (train.epochs == 0) refuse("epochs=0: must be above 0, or below for a training without end");
  refuse_null("TrainSpec::hooks", train.hooks);
  refuse_null("EvalSpec::hooks", eval.hooks);
  check_exporters(config, eval);
  if (!eval.steps && eval.input.cardinality() == kEndless)
    refuse("the evaluation's input has no end: set EvalSpec::steps");
}

// The program may change its working directory while it trains.
RunConfig with_absolute_folder(RunConfig config) {
  std::error_code error;
  if (config.model_dir.empty()) return config;
  const std::filesystem::path path = std::filesystem::absolute(config.model_dir, error);
  if (!error) config.model_dir = path.string();
  return config;
}

Every save_every(const RunConfig& config) {
  if (config.save_steps) return {.steps = config.save_steps};
  return {.seconds = config.save_secs.value_or(kSaveSecs)};
}

// The first difference; "" if there is none.
std::string difference(const std::vector<std::string>& saved, const std::vector<std::string>& now) {
  for (size_t i = 0; i < std::max(saved.size(), now.size()); ++i) {
    const std::string &a = i < saved.size() ? saved[i] : "none", &b = i < now.size() ? now[i] : "none";
    if (a != b) return fmt::format("parameter {} is {} in the checkpoint, and {} here", i, a, b);
  }
  return "";
}

class Training {
 public:
  Training(Learner& learner, const RunConfig& config, const TrainSpec& train, const EvalSpec& eval,
           TrainingReport& report)
      : learner_(learner),
        config_(with_absolute_folder(config)),
        train_(train),
        eval_(eval),
        report_(report),
        resources_(std::make_shared<Resources>(ResourcesOptions{.threads = config.threads, .memory = config.memory})),
        train_loader_(train.input, options(train.epochs)),
        eval_loader_(eval.input, options(1)),
        save_timer_("train_and_evaluate", save_every(config)),
        hooks_(train.hooks) {
    if (config.log_steps > 0) {
      hooks_.push_back(step_counter_hook({.steps = config.log_steps}));
      hooks_.push_back(logging_hook({.steps = config.log_steps}));
    }
    if (config.log != nullptr) {
      const std::string name = config.log_name.empty() ? "" : "_" + config.log_name;
      watches_.push_back(config.log->watch(train_loader_, "train" + name));
      watches_.push_back(config.log->watch(eval_loader_, "eval" + name));
    }
    if (config.summary_steps > 0) hooks_.push_back(summary_saver_hook({.steps = config.summary_steps}));
  }

  Result<TrainingResult> run() {
    auto trained = guarded([this] { return start_and_train(); });
    const auto ended = end_all(hooks_, context_);
    if (trained) trained = guarded([this] { return finish(); });  // Saved and evaluated also if a hook's end failed.
    if (trained && !ended) trained = fail(ended.error());
    if (writer_) {
      const auto saved = writer_->finish();
      if (trained && !saved) trained = fail(saved.error());
      report_.checkpoints = writer_->written();
    }
    report_.last_step = context_.step;
    report_.train = train_loader_.stats();
    if (!trained) return fail(trained.error());
    return std::move(result_);
  }

 private:
  LoaderOptions options(int64_t epochs) const {
    return {.epochs = epochs, .seed = config_.seed, .resources = resources_};
  }

  template <class Call>
  static Result<void> guarded(Call call) try {
    return call();
  } catch (...) {
    return fail(current_exception_error());
  }

  template <class Call>
  Result<void> for_each_hook(Call call) {
    for (const auto& hook : hooks_) HEADPOND_TRY(call(*hook));
    return {};
  }

  // Each of them; the first error.
  static Result<void> end_all(const std::vector<std::shared_ptr<Hook>>& hooks, HookContext& context) {
    Result<void> first;
    for (const auto& hook : hooks) {
      auto ended = guarded([&] { return hook->end(context); });
      if (first && !ended) first = fail(ended.error());
    }
    return first;
  }

  Result<void> start_and_train() {
    HEADPOND_TRY(open());
    HEADPOND_TRY(restore());
    HEADPOND_TRY(for_each_hook([this](Hook& hook) { return hook.begin(context_); }));
    save_timer_.reset(context_.step);
    if (context_.step > 0 && is_on_grid() && !is_over()) HEADPOND_TRY(evaluate_if_due());
    if (!report_.resumed_from) HEADPOND_TRY(save());
    while (!is_over()) {
      auto went = step();
      if (!went) return fail(went.error());
      if (!*went) break;
      if (!is_save_due() || is_over()) continue;
      HEADPOND_TRY(save());
      HEADPOND_TRY(evaluate_if_due());
    }
    return {};
  }

  // Steps are saved at multiples of save_steps, wherever the last save was: a stop between two of them moves none.
  bool is_on_grid() const { return !config_.save_steps || context_.step % *config_.save_steps == 0; }
  bool is_save_due() const { return config_.save_steps ? is_on_grid() : save_timer_.is_due(context_.step); }

  bool is_over() {
    if (train_.max_steps && context_.step >= *train_.max_steps) return ends_because("max_steps");
    if (context_.stop()) return ends_because(*context_.stop());
    return train_.stop.stop_requested() && ends_because("a stop was requested");
  }
  bool ends_because(const std::string& why) {
    if (report_.why_it_ended.empty()) report_.why_it_ended = why;
    return true;
  }

  // False at the end of the input.
  Result<bool> step() {
    HEADPOND_TRY(for_each_hook([this](Hook& hook) { return hook.before_run(context_); }));
    auto batch = next(train_loader_, true);
    if (!batch) return !ends_because("a stop was requested");
    if (at_end(*batch)) {
      ends_because("the end of its input");
      log(train_.max_steps ? LogLevel::warning : LogLevel::info,
          fmt::format("the training's input ended after step {}", context_.step));
      return false;
    }
    if (!*batch) return fail(batch->error());
    epoch_ = (*batch)->epoch();
    const Learner::Step done = train_on(**batch);
    HEADPOND_TRY(check_names(done.metrics));
    batch.reset();  // Its memory is for the next one.
    ++context_.step;
    HEADPOND_TRY(for_each_hook([&](Hook& hook) { return hook.after_run(context_, done.loss, done.metrics); }));
    return true;
  }

  // Nothing iff a stop was requested while it waited; `may_stop`: it may be.
  std::optional<Result<Batch>> next(Loader& loader, bool may_stop) {
    std::optional<InterruptLook> look;
    if (may_stop && interrupt_look() == nullptr) look.emplace([this] { return train_.stop.stop_requested(); });
    auto batch = loader.next();
    if (!batch && batch.error().kind() == ErrorKind::Cancelled && may_stop && train_.stop.stop_requested())
      return std::nullopt;
    return batch;
  }

  Learner::Step train_on(const Batch& batch) {
    if (config_.log == nullptr) return learner_.train(batch);
    const auto in_the_timeline = config_.log->step();
    return learner_.train(batch);
  }

  static Result<void> check_names(const Metrics& metrics) {
    if (!metrics.contains("loss")) return {};
    return fail(ErrorKind::InvalidArgument, "train_and_evaluate: a metric cannot be called \"loss\", as the loss is");
  }

  // The end: a last checkpoint, and a last evaluation.
  Result<void> finish() {
    if (last_saved_ != context_.step) HEADPOND_TRY(save());
    if (is_evaluation_stopped()) return {};
    if (last_evaluated_ != context_.step) return evaluate(true);
    return export_model(true);
  }

  // ---- checkpoints

  Result<void> open() {
    context_.model_dir = config_.model_dir;
    if (config_.model_dir.empty()) return {};
    auto folder = CheckpointFolder::open(config_.model_dir);
    if (!folder) return fail(folder.error());
    HEADPOND_TRY(open_events());
    writer_ = std::make_unique<CheckpointWriter>(
        std::move(*folder), CheckpointWriterOptions{.keep = config_.keep, .asynchronous = config_.asynchronous_save});
    return {};
  }

  // A full disk costs the charts, and not the training.
  Result<void> open_events() {
    auto events = EventWriter::open(config_.model_dir);
    if (!events && events.error().kind() != ErrorKind::ResourceExhausted) return fail(events.error());
    if (events) {
      events_ = std::move(*events);
      context_.events = events_.get();
    } else {
      log(LogLevel::warning, fmt::format("there are no charts: {}", events.error().to_string()));
    }
    return {};
  }

  Result<void> restore() {
    if (!writer_) return {};
    if (config_.from_scratch) return writer_->folder().clear();
    auto newest = writer_->folder().newest();
    if (!newest) return fail(newest.error());
    return *newest ? restore(**newest) : Result<void>();
  }

  Result<void> restore(const Checkpoint& saved) {
    const auto refused = [&](const std::string& what, Error cause = {}) {
      return fail(Error(ErrorKind::FailedPrecondition,
                        fmt::format("{}: the checkpoint of step {}: {}", config_.model_dir, saved.facts.step, what),
                        std::move(cause)));
    };
    if (const std::string first = difference(saved.facts.parameters, learner_.parameters()); !first.empty())
      return refused(first);
    for (const char* const name : {kData, kHooks}) {
      if (!saved.files.contains(name)) return refused(fmt::format("it has no {}", name));
    }
    auto numbers = HookState::from_text(saved.files.at(kHooks));
    if (!numbers) return fail(numbers.error());
    if (auto restored = train_loader_.restore(saved.files.at(kData)); !restored) {
      const Error& error = restored.error();
      if (error.kind() != ErrorKind::FailedPrecondition) return fail(error);
      if (!config_.allow_new_data) return refused(error.message(), error);
      log(LogLevel::warning, fmt::format("{}: other data than in the checkpoint of step {}, from its begin on: {}",
                                         config_.model_dir, saved.facts.step, error.message()));
    }
    visit_numbers(*numbers);
    if (const std::vector<std::string> unasked = numbers->unasked(); !unasked.empty())
      log(LogLevel::warning, fmt::format("{}: the checkpoint of step {} has numbers of hooks that are not there: {}",
                                         config_.model_dir, saved.facts.step, fmt::join(unasked, ", ")));
    learner_.restore(saved.files);
    context_.step = last_saved_ = saved.facts.step;
    epoch_ = saved.facts.epoch;
    report_.resumed_from = saved.facts.step;
    return {};
  }

  void visit_numbers(HookState& state) {
    state.begin("training", 0);
    state.visit("best_loss", best_loss_);
    state.visit("best_step", best_step_);
    double age = evaluation_age();
    state.visit("evaluation_age", age);
    if (state.is_restoring() && age >= 0) evaluation_began_ns_ = now_ns() - static_cast<int64_t>(1e9 * age);
    std::map<std::string, size_t> numbers;  // How many hooks of each name came before.
    const auto visit = [&](const std::string& name, auto& one) {
      state.begin(name, ++numbers[name]);
      one.visit_state(state);
    };
    for (const auto& hook : train_.hooks) visit(std::string(hook->name()), *hook);
    for (const auto& hook : eval_.hooks) visit(fmt::format("eval/{}", hook->name()), *hook);
    for (const auto& exporter : eval_.exporters) visit(fmt::format("export/{}", exporter->name()), *exporter);
  }

  Result<void> save() {
    save_timer_.reset(context_.step);
    if (!writer_) {
      last_saved_ = context_.step;
      return {};
    }
    train_loader_.pause();
    const int64_t began_ns = now_ns();
    for (const SavingListener& listener : train_.listeners) {
      if (listener.before_save) HEADPOND_TRY(listener.before_save(context_.step));
    }
    Checkpoint checkpoint{.facts = {}, .files = learner_.save()};
    HookState numbers;
    visit_numbers(numbers);
    checkpoint.files[kHooks] = numbers.to_text();
    checkpoint.files[kData] = train_loader_.state();
    checkpoint.facts = facts_of(checkpoint.files[kData]);
    writer_->write(std::move(checkpoint), best_step_ >= 0 ? std::optional(best_step_) : std::nullopt, began_ns);
    last_saved_ = context_.step;
    for (const SavingListener& listener : train_.listeners) {
      if (listener.after_save) HEADPOND_TRY(listener.after_save(context_.step));
    }
    return {};
  }

  CheckpointFacts facts_of(const std::string& state) const {
    CheckpointFacts facts{.step = context_.step,
                          .epoch = epoch_,
                          .seed = config_.seed,
                          .torch = learner_.version(),
                          .parameters = learner_.parameters()};
    if (const auto saved = internal::read_state(state)) {
      facts.fingerprint = saved->fingerprint;
      facts.plan = saved->plan;
    }
    return facts;
  }

  // ---- evaluations

  // Seconds since the last one began; below 0: there was none. Those between two processes don't count.
  double evaluation_age() const {
    return evaluation_began_ns_ ? 1e-9 * static_cast<double>(now_ns() - *evaluation_began_ns_) : -1;
  }

  Result<void> evaluate_if_due() {
    const double age = evaluation_age();
    return age >= 0 && age < eval_.throttle_secs ? Result<void>() : evaluate(false);
  }

  Result<void> evaluate(bool is_last) {
    train_loader_.pause();
    const int64_t began_ns = now_ns();
    evaluation_began_ns_ = began_ns;
    TrainingReport::OneEvaluation one{.evaluation = {.step = context_.step}};
    learner_.begin_evaluation();
    auto evaluated = guarded([&] { return run_evaluation(one); });
    learner_.end_evaluation();
    one.evaluation.seconds = 1e-9 * static_cast<double>(now_ns() - began_ns);
    save_timer_.leave_out(one.evaluation.seconds);
    if (!evaluated) return evaluated;
    if (is_evaluation_stopped()) return {};  // Perhaps not all of it was done.
    report_.eval = eval_loader_.stats();
    if (!is_last) eval_loader_.rewind();
    evaluation_ = one.evaluation;
    last_evaluated_ = context_.step;
    result_ = {.metrics = one.evaluation.metrics, .exports = {}};
    report_.evaluations.push_back(std::move(one));
    const Metrics& metrics = evaluation_.metrics;
    if (metrics.at("loss").count == 0) {
      log(LogLevel::warning, fmt::format("the evaluation after step {} had no batch", context_.step));
      return is_last ? export_model(true) : Result<void>();
    }
    if (const double loss = metrics.at("loss").value(); loss < best_loss_) {
      best_loss_ = loss;
      best_step_ = context_.step;
    }
    for (const auto& [name, metric] : metrics) {
      if (metric.count == 0) continue;
      const std::string tag = fmt::format("eval{}{}/{}", eval_.name.empty() ? "" : "_", eval_.name, name);
      HEADPOND_TRY(context_.scalar(tag, metric.value()));
    }
    HEADPOND_TRY(export_model(is_last));
    return for_each_hook([this](Hook& hook) { return hook.evaluated(context_, evaluation_); });
  }

  bool is_evaluation_stopped() const { return !train_.evaluates_after_stop && train_.stop.stop_requested(); }

  Result<void> run_evaluation(TrainingReport::OneEvaluation& one) {
    HookContext context;
    context.step = context_.step;
    context.model_dir = context_.model_dir;
    context.events = context_.events;
    one.evaluation.metrics["loss"] = {};
    auto evaluated = guarded([&] { return evaluate_batches(one, context); });
    auto ended = end_all(eval_.hooks, context);
    context_.events = context.events;
    return evaluated ? ended : evaluated;
  }

  Result<void> evaluate_batches(TrainingReport::OneEvaluation& one, HookContext& context) {
    for (const auto& hook : eval_.hooks) HEADPOND_TRY(hook->begin(context));
    Metrics& metrics = one.evaluation.metrics;
    eval_loader_.pause();
    for (int64_t count = 0; (!eval_.steps || count < *eval_.steps) && !context.stop(); ++count) {
      if (is_evaluation_stopped()) break;
      for (const auto& hook : eval_.hooks) HEADPOND_TRY(hook->before_run(context));
      const int64_t asked_ns = now_ns();
      auto batch = next(eval_loader_, !train_.evaluates_after_stop);
      if (!batch) break;
      if (count == 0) one.first_wait_ms = 1e-6 * static_cast<double>(now_ns() - asked_ns);
      if (at_end(*batch)) break;
      if (!*batch) return fail(batch->error());
      const Learner::Step done = learner_.evaluate(**batch);
      HEADPOND_TRY(check_names(done.metrics));
      metrics["loss"] += {done.loss, 1};
      for (const auto& [name, metric] : done.metrics) metrics[name] += metric;
      for (const auto& hook : eval_.hooks) HEADPOND_TRY(hook->after_run(context, done.loss, done.metrics));
    }
    return {};
  }

  Result<void> export_model(bool is_last) {
    if (eval_.exporters.empty() || config_.model_dir.empty()) return {};
    std::optional<std::map<std::string, std::string>> files;  // A copy of all, made if an exporter asks for it.
    const std::function<std::string_view()> model = [&] {
      if (!files) files = learner_.save();
      const auto found = files->find("model.pt");
      return found != files->end() ? std::string_view(found->second) : std::string_view();
    };
    for (const auto& exporter : eval_.exporters) {
      auto path = exporter->take({config_.model_dir, model, evaluation_, is_last});
      if (!path) return fail(path.error());
      std::vector<std::string>& all = result_.exports;
      if (*path && std::find(all.begin(), all.end(), **path) == all.end()) all.push_back(std::move(**path));
    }
    return {};
  }

  Learner& learner_;
  const RunConfig config_;
  const TrainSpec& train_;
  const EvalSpec& eval_;
  TrainingReport& report_;
  const std::shared_ptr<Resources> resources_;
  Loader train_loader_, eval_loader_;
  std::vector<RunLog::Watch> watches_;
  EveryTimer save_timer_;
  std::vector<std::shared_ptr<Hook>> hooks_;
  HookContext context_;
  std::unique_ptr<EventWriter> events_;
  std::unique_ptr<CheckpointWriter> writer_;
  Evaluation evaluation_;
  TrainingResult result_;
  int64_t epoch_ = 0;
  int64_t last_saved_ = -1, last_evaluated_ = -1;
  std::optional<int64_t> evaluation_began_ns_;  // The last one's.
  double best_loss_ = std::numeric_limits<double>::infinity();
  int64_t best_step_ = -1;
};

}  // namespace

Result<TrainingResult> train_and_evaluate(Learner& learner, const RunConfig& config, const TrainSpec& train,
                                          const EvalSpec& eval, TrainingReport* report) {
  TrainingReport ignored;
  TrainingReport& filled = report != nullptr ? *report : ignored;
  filled = {};
  check(config, train, eval);
  Training training(learner, config, train, eval, filled);
  return training.run();
}

}  // namespace headpond
