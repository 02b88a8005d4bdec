// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/blstm.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/crc32c.h"
#include "headpond/base/stats.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/progress.h"
#include "headpond/monitor/run_log.h"
#include "headpond/monitor/wait_account.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/train/articles/blstm_trainer_internal.h"
#include "headpond/train/articles/normal_loader_internal.h"
#include "headpond/train/articles/pin.h"
#include "headpond/train/blas.h"

namespace headpond {
namespace {

using internal::BlstmLog;
using internal::BlstmTrainer;
using internal::median;

using NextBatch = std::function<Result<Tensor>()>;

// The state of one mode between blocks.
struct Mode {
  Mode(std::string mode_name, const BlstmOptions& options, BufferPool& pool)
      : name(std::move(mode_name)),
        trainer(options),
        batches(options.generator, {options.time, options.batch, options.features}, options.seed, pool) {}

  Result<Tensor> generate(const std::stop_token& stop) {
    trace::Span span("generate", trace::Category::op);
    const int64_t start = now_ns();
    auto batch = batches.next(stop);
    log.generated.push_back(now_ns() - start);
    return batch;
  }

  const std::string name;
  BlstmTrainer trainer;
  NormalBatches batches;
  BlstmLog log;
};

void refuse_wrong(const BlstmOptions& options) {
  const std::pair<const char*, int64_t> counts[] = {
      {"steps", options.steps},   {"batch", options.batch},
      {"time", options.time},     {"features", options.features},
      {"hidden", options.hidden}, {"capacity", options.capacity},
      {"cores", options.cores},   {"torch threads", options.torch_threads}};
  for (const auto& [what, count] : counts) {
    if (count < 1)
      throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{} must be at least 1, got {}", what, count)));
  }
  if (!options.feed && !options.queue && !options.loader && !options.all_cores) {
    throw Exception(
        Error(ErrorKind::InvalidArgument, "no mode to train in: feed, queue, loader and all_cores are all off"));
  }
  if (auto fast = require_fast(blas()); !fast) throw Exception(fast.error());
}

// Sets the threads of torch and its BLAS. Workers that they start inherit this thread's CPUs.
void use_threads(int torch_threads, int blas_threads) {
  torch::set_num_threads(torch_threads);
  (void)set_blas_threads(blas_threads);
}

}  // namespace

struct BlstmTrial::State {
  State(const BlstmOptions& o, RunHooks h) : options(o), hooks(std::move(h)), run_log(hooks) {
    const auto make = [&](bool wanted, const char* name) {
      return wanted ? std::make_unique<Mode>(name, options, pool) : nullptr;
    };
    feed = make(options.feed, "feed");
    queue = make(options.queue, "queue");
    loader = make(options.loader, "loader");
    all_cores = make(options.all_cores && cpus.trainer.size() < all_cpus.size(), "feed_all_cores");
    const int64_t modes = (feed ? 1 : 0) + (queue ? 1 : 0) + (loader ? 1 : 0) + (all_cores ? 1 : 0);
    bar.emplace(bar_of(hooks, run_log.get(), "blstm", options.steps * modes));
    watched = run_log->watch(consumer());
  }

  PipelineSource consumer() {
    return {.totals = [this]() -> PipelineTotals {
      const WaitSummary waits = account.summary();
      const int64_t done = steps_done.get();
      return {.steps = done,
              .elements = done * options.batch,
              .bytes = done * options.time * options.batch * options.features * int64_t{sizeof(float)},
              .calls = waits.calls,
              .wait_ns = waits.wait_ns};
    }};
  }

  Result<void> warm_up();
  Result<void> steps(Mode& mode, int64_t count, const NextBatch& next);
  Result<void> feed_block(Mode& mode, int64_t count);
  Result<void> queue_block(int64_t count);
  Result<void> loader_block(int64_t count);
  Result<BlstmMode> block(Mode& mode, int64_t count);

  const BlstmOptions options;
  const RunHooks hooks;
  const std::vector<int> all_cpus = allowed_cpus();
  const CpuShares cpus = share_cpus(all_cpus, options.cores);
  BufferPool pool;                                       // Outlives the modes.
  std::unique_ptr<Mode> feed, queue, loader, all_cores;  // Null if the mode does not run.
  std::vector<BlstmRound> rounds;
  bool warm = false;
  WaitAccount account;  // Account of the trainer, in all modes.
  StatsCell steps_done;
  LogOfRun run_log;
  RunLog::Watch watched;        // After the members above, which the log reads.
  std::optional<Progress> bar;  // Last: its last line asks the log.
};

// Touches the buffers that the queue will use, and trains a throwaway network so that torch and the allocator settle.
Result<void> BlstmTrial::State::warm_up() {
  PinnedScope pinned(cpus.trainer);
  use_threads(options.torch_threads, options.cores);
  NormalBatches batches(NormalSource::headpond, {options.time, options.batch, options.features}, 0, pool);
  std::vector<Tensor> held;
  for (int64_t i = 0; i < (queue ? options.capacity + 2 : 1); ++i) {
    auto batch = batches.next(hooks.stop);
    if (!batch) return fail(batch.error());
    held.push_back(std::move(*batch));
  }
  const auto loss = BlstmTrainer(options).step(held.back(), hooks.stop);
  if (!loss) return fail(loss.error());
  return {};
}

Result<void> BlstmTrial::State::steps(Mode& mode, int64_t count, const NextBatch& next) {
  int64_t step_start = now_ns();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t call = now_ns();
    auto batch = account.measure(next);
    const int64_t stopwatch = now_ns() - call;
    if (!batch) return fail(batch.error());
    Result<float> loss = 0.0F;
    {
      trace::Span span("train", trace::Category::step);
      mode.log.digests.push_back(crc32c({batch->data(), batch->byte_size()}));
      loss = mode.trainer.step(*batch, hooks.stop);
      *batch = Tensor();  // Frees its buffer within the step.
    }
    if (!loss) return fail(loss.error());
    const int64_t end = now_ns();
    mode.log.steps.push_back({end - step_start, account.last().wait_ns, stopwatch, i == 0});
    step_start = end;
    mode.log.losses.push_back(*loss);
    steps_done.add(1);
    if (EventWriter* const events = run_log->events(); events != nullptr) {
      HEADPOND_TRY(events->scalar("loss/" + mode.name, *loss, static_cast<int64_t>(mode.log.losses.size())));
    }
    bar->set_values({{"loss", *loss}});
    bar->update();
  }
  account.pause();
  return {};
}

Result<void> BlstmTrial::State::feed_block(Mode& mode, int64_t count) {
  const bool all = &mode == all_cores.get();
  PinnedScope pinned(all ? all_cpus : cpus.trainer);
  const int threads = static_cast<int>(all_cpus.size());
  use_threads(all ? threads : options.torch_threads, all ? threads : options.cores);
  const auto done = steps(mode, count, [&] { return mode.generate(hooks.stop); });
  use_threads(options.torch_threads, options.cores);
  return done;
}

Result<void> BlstmTrial::State::queue_block(int64_t count) {
  const Shape shape = {options.time, options.batch, options.features};
  FIFOQueue fifo({.capacity = options.capacity, .dtypes = {DType::f32}, .shapes = {shape}, .name = "blstm"});
  WaitAccount waits(nullptr);  // Waits of this block, without spans.
  const RunLog::Watch watched_queue = run_log->watch(fifo, waits, {.batch = 1, .producers = 1}, {.name = "queue"});
  const auto produce = [&, left = count](std::stop_token stop) mutable -> Result<void> {
    if (left == count) (void)pin_this_thread(cpus.producers);
    if (left-- == 0) return fail(ErrorKind::OutOfRange, "the block has all its batches");
    auto batch = queue->generate(stop);
    if (!batch) return fail(batch.error());
    return fifo.enqueue({std::move(*batch)});
  };
  PinnedScope pinned(cpus.trainer);
  use_threads(options.torch_threads, options.cores);
  Coordinator coordinator;
  QueueRunner(fifo, {produce}).start(coordinator);
  HEADPOND_TRY(steps(*queue, count, [&]() -> Result<Tensor> {
    auto element = waits.measure([&] { return fifo.dequeue({.stop = hooks.stop}); });
    if (!element) return fail(element.error());
    return std::move((*element)[size_t{0}]);
  }));
  return coordinator.join();
}

// Constructs the Loader before the thread is pinned: it may use all CPUs.
Result<void> BlstmTrial::State::loader_block(int64_t count) {
  internal::NormalLoader input(loader->batches, count, hooks.stop);
  const RunLog::Watch watched_loader = run_log->watch(input.loader(), "loader");
  PinnedScope pinned(cpus.trainer);
  use_threads(options.torch_threads, options.cores);
  HEADPOND_TRY(steps(*loader, count, [&] { return input.next(); }));
  loader->log.generated.insert(loader->log.generated.end(), static_cast<size_t>(count), input.work_ns() / count);
  return {};
}

// The measurements of this block.
Result<BlstmMode> BlstmTrial::State::block(Mode& mode, int64_t count) {
  const size_t first_step = mode.log.steps.size(), first_batch = mode.log.generated.size();
  const auto done = &mode == queue.get()    ? queue_block(count)
                    : &mode == loader.get() ? loader_block(count)
                                            : feed_block(mode, count);
  if (!done) return fail(done.error());
  return mode.log.mode(first_step, first_batch);
}

BlstmTrial::BlstmTrial(const BlstmOptions& options, RunHooks hooks) {
  refuse_wrong(options);
  state_ = std::make_unique<State>(options, std::move(hooks));
}

BlstmTrial::~BlstmTrial() = default;

Result<BlstmRound> BlstmTrial::round(int64_t steps) {
  State& s = *state_;
  if (steps < 1) return fail(ErrorKind::InvalidArgument, fmt::format("a round needs at least 1 step, got {}", steps));
  if (!s.warm) HEADPOND_TRY(s.warm_up());
  s.warm = true;
  BlstmRound round;
  if (s.feed) {
    const auto figures = s.block(*s.feed, steps);
    if (!figures) return fail(figures.error());
    round.generate_s = figures->generate_s;
    round.train_s = figures->train_s;
    round.feed_step_s = figures->step_s;
  }
  for (auto [mode, step_s] : {std::pair{s.queue.get(), &round.queue_step_s},
                              {s.loader.get(), &round.loader_step_s},
                              {s.all_cores.get(), &round.all_cores_step_s}}) {
    if (mode == nullptr) continue;
    const auto figures = s.block(*mode, steps);
    if (!figures) return fail(figures.error());
    *step_s = figures->step_s;
  }
  s.rounds.push_back(round);
  return round;
}

namespace {

bool same_bits(const BlstmLog& a, const BlstmLog& b) {
  return a.digests == b.digests && a.losses.size() == b.losses.size() &&
         std::memcmp(a.losses.data(), b.losses.data(), a.losses.size() * sizeof(float)) == 0;
}

// The median of `figure` over the rounds.
template <class Figure>
double over_rounds(const std::vector<BlstmRound>& rounds, Figure figure) {
  std::vector<double> values;
  for (const BlstmRound& round : rounds) values.push_back(figure(round));
  return median(values);
}

BlstmGain gain(const std::vector<BlstmRound>& rounds, double BlstmRound::*step_s) {
  return {.saved_vs_feed = over_rounds(rounds, [=](const BlstmRound& r) { return 1 - r.*step_s / r.feed_step_s; }),
          .step_over_limit = over_rounds(rounds, [=](const BlstmRound& r) { return r.over_limit(r.*step_s); })};
}

}  // namespace

BlstmResult BlstmTrial::result() const {
  const State& s = *state_;
  BlstmResult result;
  for (auto [mode, to] : {std::pair{s.feed.get(), &result.feed},
                          {s.queue.get(), &result.queue},
                          {s.loader.get(), &result.loader},
                          {s.all_cores.get(), &result.all_cores}}) {
    if (mode == nullptr) continue;
    *to = mode->log.mode();
    (*to)->losses = mode->log.losses;
    (*to)->batch_digests = mode->log.digests;
  }
  result.rounds = s.rounds;
  const Mode* first = nullptr;
  for (const Mode* mode : {s.feed.get(), s.queue.get(), s.loader.get()}) {
    if (first != nullptr && mode != nullptr)
      result.losses_equal = result.losses_equal.value_or(true) && same_bits(first->log, mode->log);
    if (first == nullptr) first = mode;
  }
  if (!s.feed || (!s.queue && !s.loader)) return result;
  if (s.queue) result.queue_gain = gain(s.rounds, &BlstmRound::queue_step_s);
  if (s.loader) result.loader_gain = gain(s.rounds, &BlstmRound::loader_step_s);
  result.ceiling = over_rounds(s.rounds, [](const BlstmRound& r) { return r.generate_s / (r.generate_s + r.train_s); });
  return result;
}

Result<BlstmResult> train_blstm(const BlstmOptions& options, RunHooks hooks, BlstmResult* so_far) {
  BlstmTrial trial(options, std::move(hooks));
  constexpr int64_t kMostSteps = 8;
  const int64_t rounds = std::min(options.steps, std::max<int64_t>(2, (options.steps + kMostSteps - 1) / kMostSteps));
  for (int64_t i = 0, done = 0; i < rounds; ++i) {
    const int64_t steps = (options.steps - done) / (rounds - i);
    const auto round = trial.round(steps);
    if (!round) {
      if (so_far != nullptr) *so_far = trial.result();
      return fail(round.error());
    }
    done += steps;
  }
  return trial.result();
}

}  // namespace headpond
