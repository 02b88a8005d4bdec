// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/stats.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/progress.h"
#include "headpond/monitor/run_log.h"
#include "headpond/monitor/wait_account.h"
#include "headpond/train/articles/mnist/mnist_input.h"
#include "headpond/train/articles/mnist/mnist_loader.h"
#include "headpond/train/articles/models.h"
#include "headpond/train/articles/pin.h"
#include "headpond/train/blas.h"

namespace headpond {
namespace {

using NextElement = std::function<Result<Element>()>;
using InStore = std::function<int64_t()>;  // Images that are ready.

constexpr int64_t kSettlingSteps = 20;
constexpr int64_t kLimitSteps = 120;  // Steps of the run that measures the limit of training.
constexpr int64_t kScalarEvery = 20;
constexpr int64_t kElementBytes = 28 * 28 * int64_t{sizeof(float)} + int64_t{sizeof(int64_t)};

double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

void refuse_wrong(const MnistOptions& options) {
  const std::pair<const char*, int64_t> counts[] = {{"producers", options.producers},
                                                    {"batch", options.batch},
                                                    {"epochs", options.epochs},
                                                    {"torch threads", options.torch_threads}};
  for (const auto& [what, count] : counts) {
    if (count < 1)
      throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{} must be at least 1, got {}", what, count)));
  }
  const std::pair<const char*, int64_t> sizes[] = {{"sleep", options.sleep.count()},
                                                   {"min_after_dequeue", options.min_after_dequeue},
                                                   {"steps", options.steps},
                                                   {"early exit", options.early_exit}};
  for (const auto& [what, size] : sizes) {
    if (size < 0)
      throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{} must not be negative, got {}", what, size)));
  }
  if (options.capacity >= 0 && options.capacity <= options.min_after_dequeue) {
    throw Exception(
        Error(ErrorKind::InvalidArgument, fmt::format("the capacity, {}, must be above min_after_dequeue, {}",
                                                      options.capacity, options.min_after_dequeue)));
  }
}

// The time of the trainer's calls for batches, by the program's own stopwatch.
struct Stopwatch {
  int64_t calls = 0, call_ns = 0, first_call_ns = 0, steps_ns = 0;

  void add(int64_t ns) {
    if (calls++ == 0) first_call_ns = ns;
    call_ns += ns;
  }
};

// Running sums of an epoch.
struct Sums {
  int64_t steps = 0, correct = 0;
  double loss = 0;
};

}  // namespace

struct MnistTrial::State {
  State(const MnistOptions& o, RunHooks h) : options(o), hooks(std::move(h)), trainer(options.recipe), run_log(hooks) {}

  // For the log, as long as this lives.
  PipelineSource consumer() {
    return {.totals = [this]() -> PipelineTotals {
      const WaitSummary waits = account.summary();
      const int64_t done = steps_done.get();
      const int64_t elements = done * options.batch;
      return {.steps = done,
              .elements = elements,
              .bytes = elements * kElementBytes,
              .calls = waits.calls,
              .wait_ns = waits.wait_ns};
    }};
  }
  PipelineSource consumer(const Loader& loader) {
    PipelineSource source = consumer();
    const LoaderView view = loader.view();
    source.verdict = [view] { return view.diagnose(); };
    source.stats = [view] { return view.stats(); };
    source.recent_steps = [view] { return view.recent_steps(); };
    source.plan = view.plan();
    return source;
  }

  Result<void> prepare();
  Result<void> find_limit();
  MnistInputOptions input_options(int producers) const;
  MnistLoaderOptions loader_options() const {
    return {.sleep = options.sleep, .batch = options.batch, .seed = options.recipe.seed};
  }
  Result<void> step(const NextElement& next, Sums& sums, Progress& bar);
  Result<MnistEpoch> steps(const NextElement& next, int64_t count, int64_t in_store, const std::string& description);
  Result<void> settle(const NextElement& next, std::chrono::nanoseconds time);
  NextElement ready_batch() const;
  NextElement queue_batch(MnistInput& input) {
    return [this, &input] { return input.next(hooks.stop); };
  }
  Result<void> epochs(const NextElement& next, const InStore& in_store, MnistResult& result);
  Result<void> run_queue(MnistResult& result);
  Result<void> run_loader(MnistResult& result);
  Result<void> validate(MnistEpoch& epoch);
  void fill_in(MnistResult& result) const;

  const MnistOptions options;
  const RunHooks hooks;
  const CpuShares cpus = share_cpus(allowed_cpus(), options.torch_threads);
  MnistTrainer trainer;
  std::optional<MnistData> data;
  double train_it_per_s = 0;
  WaitAccount account;
  Stopwatch stopwatch;
  StatsCell steps_done;
  int64_t input_start_ns = 0;
  double fill_s = 0;
  LogOfRun run_log;
};

// Loads the data, and sets the threads of torch and its BLAS.
Result<void> MnistTrial::State::prepare() {
  torch::set_num_threads(options.torch_threads);
  (void)set_blas_threads(1);
  if (data) return {};
  if (auto fast = require_fast(blas()); !fast) log(LogLevel::warning, fast.error().message());
  auto loaded = load_mnist(options.folder, hooks.stop);
  if (!loaded) return fail(loaded.error());
  data = std::move(*loaded);
  if (data->train_images.dim(0) < options.batch) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: {} images are less than one batch of {}", data->source,
                                                        data->train_images.dim(0), options.batch));
  }
  return {};
}

// Trains another network on a prepared batch.
Result<void> MnistTrial::State::find_limit() {
  MnistTrainer other(options.recipe);
  const NextElement next = ready_batch();
  int64_t start = 0;
  for (int64_t i = 0; i < kLimitSteps; ++i) {
    if (i == kSettlingSteps) start = now_ns();
    const auto batch = next();
    if (!batch) return fail(batch.error());
    if (const auto done = other.step(*batch); !done) return fail(done.error());
  }
  train_it_per_s = static_cast<double>(kLimitSteps - kSettlingSteps) / seconds(now_ns() - start);
  return {};
}

MnistInputOptions MnistTrial::State::input_options(int producers) const {
  return {.producers = producers,
          .sleep = options.sleep,
          .window = options.batch,
          .batch = options.batch,
          .capacity = options.capacity,
          .min_after_dequeue = options.min_after_dequeue,
          .seed = options.recipe.seed,
          .cpus = cpus.producers};
}

NextElement MnistTrial::State::ready_batch() const {
  return [this, batch = mnist_window(*data, 0, options.batch)]() -> Result<Element> {
    if (hooks.stop.stop_requested()) return fail(ErrorKind::Cancelled, "a stop was requested");
    return batch;
  };
}

Result<void> MnistTrial::State::step(const NextElement& next, Sums& sums, Progress& bar) {
  const int64_t call = now_ns();
  const auto batch = account.measure(next);
  const int64_t end = now_ns();
  if (!batch) return fail(batch.error());
  if (stopwatch.calls == 0) fill_s = seconds(end - input_start_ns);
  stopwatch.add(end - call);
  const trace::Span span("train", trace::Category::step);
  const auto done = trainer.step(*batch);
  if (!done) return fail(done.error());
  sums.loss += static_cast<double>(done->loss);
  sums.correct += done->correct;
  sums.steps += 1;
  steps_done.add(1);
  const double accuracy = static_cast<double>(sums.correct) / static_cast<double>(sums.steps * options.batch);
  const double loss = sums.loss / static_cast<double>(sums.steps);
  if (hooks.progress) bar.set_values({{"acc", accuracy}, {"loss", loss}});
  bar.update();
  EventWriter* const events = run_log->events();
  if (events == nullptr || sums.steps % kScalarEvery != 0) return {};
  HEADPOND_TRY(events->scalar("train/accuracy", accuracy, steps_done.get()));
  return events->scalar("train/loss", loss, steps_done.get());
}

// `in_store`: elements that are ready at the start.
Result<MnistEpoch> MnistTrial::State::steps(const NextElement& next, int64_t count, int64_t in_store,
                                            const std::string& description) {
  const int64_t settling = std::min(kSettlingSteps + in_store / options.batch, count - 1);
  Progress bar(bar_of(hooks, run_log.get(), description, count));
  Sums sums;
  const int64_t start = now_ns();
  int64_t steady_start = start, waited = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i == settling) {
      steady_start = now_ns();
      waited = account.summary().wait_ns;
    }
    HEADPOND_TRY(step(next, sums, bar));
  }
  const int64_t end = now_ns();
  account.pause();
  stopwatch.steps_ns += end - start;
  const auto n = static_cast<double>(count);
  MnistEpoch epoch;
  epoch.steps = count;
  epoch.it_per_s = n / seconds(end - start);
  epoch.steady_it_per_s = static_cast<double>(count - settling) / seconds(end - steady_start);
  epoch.wait_share = seconds(account.summary().wait_ns - waited) / seconds(end - steady_start);
  epoch.train_acc = static_cast<double>(sums.correct) / (n * static_cast<double>(options.batch));
  epoch.train_loss = sums.loss / n;
  epoch.wall_s = seconds(end - start);
  return epoch;
}

Result<void> MnistTrial::State::settle(const NextElement& next, std::chrono::nanoseconds time) {
  Progress bar({.enabled = false});
  Sums sums;
  for (const int64_t end = now_ns() + time.count(); now_ns() < end;) HEADPOND_TRY(step(next, sums, bar));
  account.pause();
  return {};
}

Result<void> MnistTrial::State::validate(MnistEpoch& epoch) {
  const int64_t start = now_ns();
  const auto score = trainer.validate(*data, hooks.stop);
  if (!score) return fail(score.error());
  epoch.valid_acc = score->accuracy;
  epoch.valid_loss = score->loss * (options.recipe.loss == LossReduction::sum ? static_cast<double>(options.batch) : 1);
  epoch.wall_s += seconds(now_ns() - start);
  EventWriter* const events = run_log->events();
  if (events == nullptr) return {};
  HEADPOND_TRY(events->scalar("validation/accuracy", *epoch.valid_acc, steps_done.get()));
  return events->scalar("validation/loss", *epoch.valid_loss, steps_done.get());
}

Result<void> MnistTrial::State::epochs(const NextElement& next, const InStore& in_store, MnistResult& result) {
  const int64_t whole = data->train_images.dim(0) / options.batch;
  const int64_t planned = options.steps > 0 ? options.steps : whole * options.epochs;
  const bool leaves_early = options.early_exit > 0 && options.early_exit < planned;
  const int64_t last = leaves_early ? options.early_exit : planned;
  const int64_t rounds = (planned + whole - 1) / whole;
  for (int64_t done = 0; done < last;) {
    const int64_t count = std::min(whole, last - done);
    const std::string description = fmt::format("epoch {}/{}", done / whole + 1, rounds);
    auto epoch = steps(next, count, done > 0 ? in_store() : 0, description);
    if (!epoch) return fail(epoch.error());
    epoch->index = done / whole;
    done += count;
    if (done < last || !leaves_early) HEADPOND_TRY(validate(*epoch));
    result.epochs.push_back(*epoch);
    if (options.on_epoch) options.on_epoch(*epoch);
  }
  return {};
}

Result<void> MnistTrial::State::run_queue(MnistResult& result) {
  const PinnedScope pinned(cpus.trainer);
  MnistInput input(*data, input_options(options.producers));
  const RunLog::Watch watched =
      run_log->watch(input.queue(), account, {.batch = options.batch, .producers = options.producers}, consumer());
  HEADPOND_TRY(epochs(
      queue_batch(input), [&] { return input.in_store(); }, result));
  result.queue = watched.queue();
  return {};
}

// Constructs the Loader before the thread is pinned: it may use all CPUs.
Result<void> MnistTrial::State::run_loader(MnistResult& result) {
  MnistLoader input(*data, loader_options(), hooks.stop);
  const RunLog::Watch watched = run_log->watch(consumer(input.loader()));
  const PinnedScope pinned(cpus.trainer);
  HEADPOND_TRY(epochs([&] { return input.next(); }, [&] { return input.in_store(); }, result));
  result.loader = input.stats();
  return {};
}

void MnistTrial::State::fill_in(MnistResult& result) const {
  result.parameters = MnistNet::kParameters;
  result.train_it_per_s = train_it_per_s;
  result.limit_it_per_s = train_it_per_s;
  if (options.feed == MnistFeed::queue && options.sleep.count() > 0) {
    const double producers = options.producers * 1000.0 / static_cast<double>(options.sleep.count());
    result.limit_it_per_s = std::min(producers, train_it_per_s);
  }
  if (!result.epochs.empty()) result.share_of_limit = result.epochs.front().steady_it_per_s / result.limit_it_per_s;
  const WaitSummary waits = account.summary();
  const auto calls = static_cast<double>(std::max<int64_t>(waits.calls - 1, 1));
  result.wait_s = seconds(waits.wait_ns - waits.first_wait_ns) / calls;
  result.stopwatch_wait_s = seconds(stopwatch.call_ns - stopwatch.first_call_ns) / calls;
  result.wait_share = result.wait_s * calls / seconds(waits.wait_ns + waits.work_ns - waits.first_wait_ns);
  result.stopwatch_wait_share = result.stopwatch_wait_s * calls / seconds(stopwatch.steps_ns - stopwatch.first_call_ns);
  result.fill_s = options.feed == MnistFeed::ready ? 0 : fill_s;
  result.source = data->source;
  result.train_images = data->train_images.dim(0);
  result.test_images = data->test_images.dim(0);
  result.digest = data->digest;
}

MnistTrial::MnistTrial(const MnistOptions& options, RunHooks hooks) {
  refuse_wrong(options);
  state_ = std::make_unique<State>(options, std::move(hooks));
}

MnistTrial::~MnistTrial() = default;

Result<MnistEpoch> MnistTrial::block(int producers, int64_t steps) {
  State& s = *state_;
  if (steps < 1 || producers < 0) {
    return fail(ErrorKind::InvalidArgument, fmt::format("no block of {} steps with {} producers", steps, producers));
  }
  const PinnedScope pinned(s.cpus.trainer);
  HEADPOND_TRY(s.prepare());
  s.input_start_ns = now_ns();
  const RunLog::Watch consumer = s.run_log->watch(s.consumer());
  if (producers == 0) return s.steps(s.ready_batch(), steps, 0, "ready");
  MnistInput input(*s.data, s.input_options(producers));
  const RunLog::Watch watched = s.run_log->watch(input.queue());
  return s.steps(s.queue_batch(input), steps, 0, fmt::format("{} producers", producers));
}

Result<MnistEpoch> MnistTrial::loader_block(int64_t steps, std::chrono::milliseconds before) {
  State& s = *state_;
  if (steps < 1) return fail(ErrorKind::InvalidArgument, fmt::format("no block of {} steps", steps));
  {
    const PinnedScope pinned(s.cpus.trainer);
    HEADPOND_TRY(s.prepare());
  }
  s.input_start_ns = now_ns();
  MnistLoader input(*s.data, s.loader_options(), s.hooks.stop);
  const RunLog::Watch watched = s.run_log->watch(s.consumer(input.loader()));
  const PinnedScope pinned(s.cpus.trainer);
  const NextElement next = [&] { return input.next(); };
  HEADPOND_TRY(s.settle(next, before));
  return s.steps(next, steps, 0, "loader");
}

Result<MnistResult> MnistTrial::run() {
  State& s = *state_;
  {
    const PinnedScope pinned(s.cpus.trainer);
    HEADPOND_TRY(s.prepare());
    HEADPOND_TRY(s.find_limit());
  }
  MnistResult result;
  s.input_start_ns = now_ns();
  switch (s.options.feed) {
    case MnistFeed::queue:
      HEADPOND_TRY(s.run_queue(result));
      break;
    case MnistFeed::loader:
      HEADPOND_TRY(s.run_loader(result));
      break;
    case MnistFeed::ready: {
      const RunLog::Watch watched = s.run_log->watch(s.consumer());
      const PinnedScope pinned(s.cpus.trainer);
      HEADPOND_TRY(s.epochs(
          s.ready_batch(), [] { return int64_t{0}; }, result));
      break;
    }
  }
  s.fill_in(result);
  return result;
}

}  // namespace headpond
