// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/verdict/planted_mistakes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "cli/bench/busy.h"
#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/monitor/queue_verdict.h"
#include "headpond/queue/runner/queue_runner.h"

namespace headpond::cli {
namespace {

constexpr int64_t kRows = kPlantedRows;
constexpr int64_t kMostOfFiles = 80;  // Batches of a run that reads files: 16 MB each.

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

double seconds(double ns) { return 1e-9 * ns; }

// Steps a second, without those that fill a cache.
class Rate {
 public:
  Rate(const PlantedRun& run, int64_t steps_to_fill) : run_(run), first_(steps_to_fill) {}

  void look() {
    if (run_.steps == first_) began_ns_ = now_ns();
  }
  double now() const {
    const double ns = static_cast<double>(now_ns() - began_ns_);
    return run_.steps > first_ && ns > 0 ? 1e9 * static_cast<double>(run_.steps - first_) / ns : 0;
  }

 private:
  const PlantedRun& run_;
  const int64_t first_;
  int64_t began_ns_ = 0;
};

// What a program does with each batch that it gets from `next`; false: there is none left.
Result<bool> step(PlantedRun& run, const PlantedPipeline& what, const std::function<Result<bool>()>& next) {
  const int64_t began = now_ns();
  auto has_batch = next();
  if (!has_batch || !*has_batch) return has_batch;
  run.stopwatch_wait_s += seconds(static_cast<double>(now_ns() - began));
  sleep_ms(what.step_ms + what.jitter_ms * static_cast<double>(run.steps++ % 5 - 2));
  return true;
}

Result<void> all_steps(PlantedRun& run, const PlantedPipeline& what, const std::stop_token& stop,
                       const std::function<Result<bool>()>& next) {
  Rate rate(run, what.steps_to_fill);
  while (!stop.stop_requested()) {
    rate.look();
    const auto goes_on = step(run, what, next);
    if (!goes_on) return fail(goes_on.error());
    if (!*goes_on) break;
  }
  if (what.steps_to_fill > 0) run.steps_per_s = rate.now();
  return {};
}

// A producer that needs 16 ms for the elements of a batch.
Result<PlantedRun> run_queue(const PlantedPipeline& what, int64_t steps, const std::stop_token& stop) {
  constexpr int64_t kMinimum = 1000, kAtOnce = 8;
  RandomShuffleQueue queue({.capacity = what.queue_capacity, .dtypes = {i64}, .shapes = {{}}, .name = "shuffled"},
                           kMinimum);
  Coordinator coordinator;
  const auto produce = [queue, made = int64_t{0}](const std::stop_token& stopped) mutable -> Result<void> {
    if (made > kMinimum) sleep_ms(16.0 * kAtOnce / kRows);
    made += kAtOnce;
    return queue.enqueue_many({Tensor::from(std::vector<int64_t>(kAtOnce, made), {kAtOnce})}, {.stop = stopped});
  };
  QueueRunner(queue, {produce}).start(coordinator);
  QueueMonitor monitor({.sample_every = std::chrono::milliseconds(7)});
  const QueueMonitor::Handle watched = monitor.watch(queue_source(queue));
  WaitAccount account;
  PlantedRun run{.stages = {"shuffled"}};
  const auto taken = all_steps(run, what, stop, [&]() -> Result<bool> {
    if (run.steps == steps) return false;
    const auto batch = account.measure([&] { return queue.dequeue_many(kRows); });
    if (!batch) return fail(batch.error());
    return true;
  });
  if (!taken) return fail(taken.error());
  const WaitSummary waits = account.summary();
  run.verdict = diagnose(queue, watched.summary(), waits, {.batch = kRows});
  run.steps_per_s = static_cast<double>(run.steps) /
                    seconds(static_cast<double>(waits.wait_ns - waits.first_wait_ns + waits.work_ns));
  run.reported_wait_s = seconds(static_cast<double>(waits.wait_ns));
  return run;
}

// True: a batch; false: the end.
template <class T>
Result<bool> is_there(const Result<T>& taken) {
  if (taken) return true;
  if (at_end(taken)) return false;
  return fail(taken.error());
}

Result<void> take_all(PlantedRun& run, Loader& loader, const PlantedPipeline& what, const std::stop_token& stop) {
  return all_steps(run, what, stop, [&] { return is_there(loader.next()); });
}

Result<void> take_after_a_buffer(PlantedRun& run, Loader& loader, const PlantedPipeline& what,
                                 const std::stop_token& stop) {
  FIFOQueue buffer({.capacity = 4, .dtypes = {i64}, .shapes = {{kRows}}});
  Coordinator coordinator;
  const auto fill = [&loader, buffer](const std::stop_token& stopped) mutable -> Result<void> {
    auto batch = loader.next();
    if (!batch) return fail(batch.error());
    return buffer.enqueue({(*batch)[0]}, {.stop = stopped});
  };
  QueueRunner(buffer, {fill}).start(coordinator);
  auto taken = all_steps(run, what, stop, [&] { return is_there(buffer.dequeue({.stop = stop})); });
  (void)coordinator.request_stop();
  (void)coordinator.join();
  return taken;
}

Dataset numbers(int64_t steps) { return range(steps * kRows); }

Step compute(double ms) {
  return map([ms](int64_t x) {
    compute_us(1000 * ms);
    return x;
  });
}

Step wait(double ms) {
  return map(
      [ms](int64_t x) {
        sleep_ms(ms);
        return x;
      },
      {.blocking = true});
}

// What all calls share: each waits for its turn, without a lock.
Step limited(int64_t bytes, double bytes_per_s) {
  struct Line {
    std::mutex mutex;
    std::chrono::steady_clock::time_point free = {};
  };
  const auto line = std::make_shared<Line>();
  const auto takes = std::chrono::nanoseconds(static_cast<int64_t>(1e9 * static_cast<double>(bytes) / bytes_per_s));
  return map(
      [=](int64_t) {
        std::unique_lock lock(line->mutex);
        const auto until = line->free = std::max(line->free, std::chrono::steady_clock::now()) + takes;
        lock.unlock();
        std::this_thread::sleep_until(until);
        return Tensor::from(std::vector<uint8_t>(static_cast<size_t>(bytes)), {bytes});
      },
      {.output = {{"", u8, {bytes}}}, .blocking = true});
}

Step compute_in_a_lock(double ms) {
  const auto mutex = std::make_shared<std::mutex>();
  return map([=](int64_t x) {
    const std::lock_guard lock(*mutex);
    compute_us(1000 * ms);
    return x;
  });
}

// `ms` of work, divided among `threads`.
Step compute_in_a_team(double ms, int threads) {
  return map([=](int64_t x) {
    std::vector<std::jthread> team;
    team.reserve(static_cast<size_t>(threads));
    for (int i = 0; i < threads; ++i) team.emplace_back([=] { compute_us(1000 * ms); });
    return x;
  });
}

// Each epoch computes the same again, unless it is kept.
PlantedPipeline compute_in_epochs(int64_t steps, bool kept) {
  constexpr int64_t kEpochs = 4;
  const int64_t of_epoch = std::max<int64_t>(steps / kEpochs, 1);
  const Dataset computed = numbers(of_epoch) | compute(4);
  if (!kept) return {.dataset = computed | batch(kRows), .options = {.epochs = kEpochs}};
  return {.dataset = computed | cache() | batch(kRows), .options = {.epochs = kEpochs + 1}, .steps_to_fill = of_epoch};
}

Dataset generated(double ms, int64_t count) {
  const auto make = [ms, count](uint64_t) -> Generator {
    return [ms, count, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == count) return std::nullopt;
      compute_us(1000 * ms);
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", i64, {}}});
}

// Puts the rows of a batch together once more, each as slowly as an interpreter might.
Step collate(double ms) {
  return map(
      [ms](const Tensor& rows) {
        std::vector<int64_t> copy;
        for (const int64_t row : rows.as<int64_t>()) {
          compute_us(1000 * ms / kRows);
          copy.push_back(row);
        }
        return Tensor::from(copy, {std::ssize(copy)});
      },
      {.output = {{"", i64, {kUnknown}}}});
}

// Time of a batch; the logarithms of times are about normal, with a mean of 15 ms.
double uneven_ms(int64_t batch) {
  const double normal = std::sqrt(-2 * std::log(static_cast<double>(batch * 7919 % 997 + 1) / 998)) *
                        std::cos(6.283 * static_cast<double>(batch * 104729 % 991) / 991);
  return 15 * std::exp(0.8 * normal - 0.32);
}

Step uneven() {
  return map([](int64_t x) {
    if (x % kRows == 0) sleep_ms(uneven_ms(x / kRows));
    return x;
  });
}

// Compressed, one file takes about 35 ms a batch.
PlantedPipeline read_files(int64_t steps, int files, bool zlib) {
  const auto planted = std::make_shared<PlantedFiles>(std::min(steps, kMostOfFiles), kRows, files, zlib);
  const Step length = map([](std::string_view record) { return static_cast<int64_t>(record.size()); });
  return {.dataset = tfrecord(planted->paths()) | length | batch(kRows), .files = planted};
}

std::vector<PlantedMistake> slow_reads_and_queues() {
  return {{"reads sleep, two at once", ReasonCode::latency_bound, "range|map|batch", "map",
           [](int64_t steps) {
             return PlantedPipeline{numbers(steps) | wait(5) | batch(kRows), {.io_threads = 2}};
           },
           [](const Change& told, int64_t steps) {
             return PlantedPipeline{numbers(steps) | wait(5) | batch(kRows), {.io_threads = std::stoi(told.value)}};
           }},
          {"reads share 20 MB/s", ReasonCode::bandwidth_bound, "range|map|batch", "map",
           [](int64_t steps) { return PlantedPipeline{numbers(steps) | limited(32768, 20e6) | batch(kRows)}; },
           [](const Change&, int64_t steps) {
             return PlantedPipeline{numbers(steps) | limited(16384, 20e6) | batch(kRows)};
           }},
          {"uneven batches, none ahead", ReasonCode::window_too_small, "range|map|batch", "map",
           [](int64_t steps) {
             return PlantedPipeline{numbers(steps) | uneven() | batch(kRows), {.run_ahead = 0}};
           },
           [](const Change& told, int64_t steps) {
             return PlantedPipeline{numbers(steps) | uneven() | batch(kRows), {.run_ahead = std::stoi(told.value)}};
           }},
          {"one compressed file", ReasonCode::single_file, "tfrecord|map", "tfrecord",
           [](int64_t steps) { return read_files(steps, 1, true); },
           [](const Change& told, int64_t steps) { return read_files(steps, std::stoi(told.value), false); }},
          {"a shuffle queue without room", ReasonCode::min_fill_too_large, "shuffled", "",
           [](int64_t steps) { return PlantedPipeline{.dataset = numbers(steps), .queue_capacity = 1010}; },
           [](const Change& told, int64_t steps) {
             return PlantedPipeline{.dataset = numbers(steps), .queue_capacity = std::stoi(told.value)};
           }}};
}

std::vector<PlantedMistake> slow_functions() {
  return {
      {"a generator computes", ReasonCode::serial_stage, "from_generator", "from_generator",
       [](int64_t steps) { return PlantedPipeline{generated(2, steps * kRows) | batch(kRows)}; },
       [](const Change&, int64_t steps) { return PlantedPipeline{numbers(steps) | compute(2) | batch(kRows)}; }},
      {"a map computes", ReasonCode::cpu_bound, "range|map|batch", "map",
       [](int64_t steps) { return compute_in_epochs(steps, false); },
       [](const Change& told, int64_t steps) {
         return compute_in_epochs(steps, told.what.starts_with("a cache after map"));
       }},
      {"a map computes in a lock", ReasonCode::user_lock, "range|map|batch", "map",
       [](int64_t steps) { return PlantedPipeline{numbers(steps) | compute_in_a_lock(2) | batch(kRows)}; },
       [](const Change&, int64_t steps) { return PlantedPipeline{numbers(steps) | compute(2) | batch(kRows)}; }},
      {"a function of batches copies rows slowly", ReasonCode::slow_batch_function, "map", "map",
       [](int64_t steps) { return PlantedPipeline{numbers(steps) | batch(kRows) | collate(60)}; },
       [](const Change& told, int64_t steps) {
         const bool as_told = told.what.ends_with("let batch do that, in place");
         return PlantedPipeline{as_told ? numbers(steps) | batch(kRows) : numbers(steps) | batch(kRows) | collate(60)};
       }},
      {"a map computes in a team of threads", ReasonCode::oversubscribed, "range|map|batch", "map",
       [](int64_t steps) { return PlantedPipeline{numbers(steps) | compute_in_a_team(0.5, 4) | batch(kRows)}; },
       [](const Change& told, int64_t steps) {
         const int threads = std::stoi(told.value);
         const Step computes = threads == 1 ? compute(2) : compute_in_a_team(2.0 / threads, threads);
         return PlantedPipeline{numbers(steps) | computes | batch(kRows)};
       }}};
}

}  // namespace

double PlantedRun::wait_error() const {
  const double may = std::max(0.01 * stopwatch_wait_s, 1e-4 * static_cast<double>(steps));
  return may > 0 ? std::abs(reported_wait_s - stopwatch_wait_s) / may : 0;
}

Result<PlantedRun> run_planted(const PlantedPipeline& what, int64_t steps, const std::stop_token& stop, TakeFrom from) {
  if (what.queue_capacity > 0) return run_queue(what, steps, stop);
  PlantedRun run;
  Loader loader(what.dataset, what.options);
  const auto taken =
      from == TakeFrom::loader ? take_all(run, loader, what, stop) : take_after_a_buffer(run, loader, what, stop);
  if (!taken) return fail(taken.error());
  const LoaderStats stats = loader.stats();
  const double ns = stats.steps.call_ns - stats.steps.startup_ns + stats.steps.work_ns;
  run.verdict = loader.diagnose();
  if (what.steps_to_fill == 0) run.steps_per_s = ns > 0 ? 1e9 * static_cast<double>(stats.steps.steps) / ns : 0;
  run.reported_wait_s = seconds(stats.steps.call_ns);
  for (const StageStats& stage : stats.stages) run.stages.push_back(stage.name);
  return run;
}

bool PlantedMistake::is_found_by(const Verdict& verdict) const {
  const bool names = verdict.stage == stage && verdict.op == op;
  return verdict.code == right && names && (*stage != 0 || verdict.changes.empty());
}

std::vector<PlantedMistake> planted_mistakes() {
  std::vector<PlantedMistake> all = slow_reads_and_queues();
  for (const PlantedMistake& one : slow_functions()) all.push_back(one);
  return all;
}

std::vector<PlantedMistake> runs_without_a_mistake() {
  return {{"silent: a long step", ReasonCode::device_bound, "", "",
           [](int64_t steps) {
             return PlantedPipeline{numbers(steps) | compute(0.6) | batch(kRows), {}, 60};
           }},
          {"silent: a long, uneven step", ReasonCode::device_bound, "", "",
           [](int64_t steps) {
             return PlantedPipeline{numbers(steps) | compute(0.6) | batch(kRows), {}, 60, 10};
           }},
          {"silent: a slow start", ReasonCode::startup, "", "", [](int64_t steps) {
             return PlantedPipeline{numbers(steps) | map([](int64_t x) {
                                      if (x == 0) sleep_ms(5000);
                                      return x;
                                    }) |
                                    batch(kRows)};
           }}};
}

PlantedPipeline slow_input(int64_t steps) { return {numbers(steps) | wait(5) | batch(kRows), {.io_threads = 4}}; }

Verdict with_stages_swapped(const PlantedRun& run) {
  Verdict verdict = run.verdict;
  const auto at = std::find(run.stages.begin(), run.stages.end(), verdict.stage);
  if (at == run.stages.end() || run.stages.size() < 2) return verdict;
  verdict.stage = at + 1 == run.stages.end() ? *(at - 1) : *(at + 1);
  return verdict;
}

// Without costs of operators the best guess is the last one of the stage, which is nearest to the program.
Verdict without_probes(const PlantedRun& run) {
  Verdict verdict = run.verdict;
  verdict.op = verdict.stage.substr(verdict.stage.rfind('|') + 1);
  return verdict;
}

}  // namespace headpond::cli
