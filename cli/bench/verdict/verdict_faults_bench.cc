// SPDX-License-Identifier: Apache-2.0
// Does a Loader find the mistake that was planted in a pipeline, and is the gain that it forecasts the one that the
// change brings? And is it silent where there is nothing to say?
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/monitor/queue_verdict.h"
#include "headpond/queue/runner/queue_runner.h"

namespace headpond::cli {
namespace {

constexpr int64_t kRows = 32, kSteps = 160;
constexpr double kStepMs = 20;

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

struct Pipeline {
  Dataset dataset;
  LoaderOptions options = {};
  double step_ms = kStepMs, jitter_ms = 0;
  int64_t queue_capacity = 0;  // Above 0: elements pass a shuffle queue with a minimum of 1000, by a producer.
};

struct Run {
  Verdict verdict;
  double steps_per_s = 0;
};

// A producer that needs 16 ms for the elements of a batch.
Result<Run> run_queue(const Pipeline& what, const std::stop_token& stop) {
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
  for (int64_t i = 0; i < kSteps && !stop.stop_requested(); ++i) {
    const auto batch = account.measure([&] { return queue.dequeue_many(kRows); });
    if (!batch) return fail(batch.error());
    sleep_ms(what.step_ms);
  }
  const WaitSummary waits = account.summary();
  const double ns = static_cast<double>(waits.wait_ns - waits.first_wait_ns + waits.work_ns);
  return Run{diagnose(queue, watched.summary(), waits, {.batch = kRows}), 1e9 * kSteps / ns};
}

Result<Run> run(const Pipeline& what, const std::stop_token& stop) {
  if (what.queue_capacity > 0) return run_queue(what, stop);
  Loader loader(what.dataset, what.options);
  for (int64_t i = 0; !stop.stop_requested(); ++i) {
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error());
    sleep_ms(what.step_ms + what.jitter_ms * static_cast<double>(i % 5 - 2));
  }
  const StepStats steps = loader.stats().steps;
  const double ns = steps.call_ns - steps.startup_ns + steps.work_ns;
  return Run{loader.diagnose(), ns > 0 ? 1e9 * static_cast<double>(steps.steps) / ns : 0};
}

Dataset numbers() { return range(kSteps * kRows); }

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

Dataset generated(double ms) {
  const auto make = [ms](uint64_t) -> Generator {
    return [ms, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == kSteps * kRows) return std::nullopt;
      compute_us(1000 * ms);
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", i64, {}}});
}

Step collate(double ms) {
  return map(
      [ms](const Tensor& rows) {
        compute_us(1000 * ms);
        return rows;
      },
      {.output = {{"", i64, {kUnknown}}}});
}

// Of a batch; the logarithms of times are about normal, with a mean of 15 ms.
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

struct Case {
  const char* name;
  ReasonCode right;
  const char *stage, *op;  // Where the mistake is; "": nowhere.
  Pipeline (*make)();
  // With the change that was told; null: it cannot be made on this machine.
  Pipeline (*changed)(const Change&) = nullptr;
};

std::vector<Case> slow_reads_and_queues() {
  return {{"reads sleep, two at once", ReasonCode::latency_bound, "range|map|batch", "map",
           [] {
             return Pipeline{numbers() | wait(5) | batch(kRows), {.io_threads = 2}};
           },
           [](const Change& told) {
             return Pipeline{numbers() | wait(5) | batch(kRows), {.io_threads = std::stoi(told.value)}};
           }},
          {"reads share 20 MB/s", ReasonCode::bandwidth_bound, "range|map|batch", "map",
           [] { return Pipeline{numbers() | limited(32768, 20e6) | batch(kRows)}; },
           [](const Change&) { return Pipeline{numbers() | limited(16384, 20e6) | batch(kRows)}; }},
          {"uneven batches, none ahead", ReasonCode::window_too_small, "range|map|batch", "map",
           [] {
             return Pipeline{numbers() | uneven() | batch(kRows), {.run_ahead = 0}};
           },
           [](const Change& told) {
             return Pipeline{numbers() | uneven() | batch(kRows), {.run_ahead = std::stoi(told.value)}};
           }},
          {"a shuffle queue without room", ReasonCode::min_fill_too_large, "shuffled", "",
           [] { return Pipeline{.dataset = numbers(), .queue_capacity = 1010}; },
           [](const Change& told) { return Pipeline{.dataset = numbers(), .queue_capacity = std::stoi(told.value)}; }}};
}

std::vector<Case> slow_functions() {
  return {{"a generator computes", ReasonCode::serial_stage, "from_generator", "from_generator",
           [] { return Pipeline{generated(2) | batch(kRows)}; },
           [](const Change&) { return Pipeline{numbers() | compute(2) | batch(kRows)}; }},
          {"a map computes", ReasonCode::cpu_bound, "range|map|batch", "map",
           [] { return Pipeline{numbers() | compute(4) | batch(kRows)}; }},
          {"a map computes in a lock", ReasonCode::user_lock, "range|map|batch", "map",
           [] { return Pipeline{numbers() | compute_in_a_lock(2) | batch(kRows)}; },
           [](const Change&) { return Pipeline{numbers() | compute(2) | batch(kRows)}; }},
          {"a function of batches computes", ReasonCode::slow_batch_function, "map", "map",
           [] { return Pipeline{numbers() | batch(kRows) | collate(60)}; }},
          {"a map computes in a team of threads", ReasonCode::oversubscribed, "range|map|batch", "map",
           [] { return Pipeline{numbers() | compute_in_a_team(0.5, 4) | batch(kRows)}; }}};
}

std::vector<Case> faults() {
  std::vector<Case> all = slow_reads_and_queues();
  for (const Case& one : slow_functions()) all.push_back(one);
  return all;
}

std::vector<Case> silent() {
  return {{"silent: a long step", ReasonCode::device_bound, "", "",
           [] {
             return Pipeline{numbers() | compute(0.6) | batch(kRows), {}, 60};
           }},
          {"silent: a long, uneven step", ReasonCode::device_bound, "", "",
           [] {
             return Pipeline{numbers() | compute(0.6) | batch(kRows), {}, 60, 10};
           }},
          {"silent: a slow start", ReasonCode::startup, "", "", [] {
             return Pipeline{numbers() | map([](int64_t x) {
                               if (x == 0) sleep_ms(5000);
                               return x;
                             }) |
                             batch(kRows)};
           }}};
}

// A run without a mistake is told no change.
bool is_right(const Case& what, const Verdict& verdict) {
  const bool names = verdict.stage == what.stage && verdict.op == what.op;
  return verdict.code == what.right && names && (*what.stage != 0 || verdict.changes.empty());
}

// Whether it was right; the gain that was told, and the one that was measured; the gain of an input without waits.
Result<std::vector<BenchSample>> samples_of(const Case& what, const std::stop_token& stop) {
  const auto before = run(what.make(), stop);
  if (!before) return fail(before.error());
  const std::vector<Change>& changes = before->verdict.changes;
  double told = 0, measured = 0;
  const double perfect = 1 / std::max(1 - before->verdict.wait_share, 0.01);
  if (what.changed != nullptr && is_right(what, before->verdict) && !changes.empty()) {
    const auto after = run(what.changed(changes[0]), stop);
    if (!after) return fail(after.error());
    told = changes[0].gain;
    measured = after->steps_per_s / before->steps_per_s;
  }
  if (!is_right(what, before->verdict)) fmt::print(stderr, "{}:\n{}", what.name, before->verdict.to_string());
  return std::vector<BenchSample>{{is_right(what, before->verdict) ? 1.0 : 0.0}, {told}, {measured}, {perfect}};
}

constexpr std::array kMetrics = {"right", "gain_told", "gain_measured", "gain_of_a_perfect_input"};
constexpr size_t kRowsOfCase = kMetrics.size();

void add_rows(const Case& what, Bench& bench) {
  for (const char* const metric : kMetrics) {
    bench.rows.push_back({.name = what.name,
                          .params = {{"steps", kSteps}},
                          .system_version = HEADPOND_VERSION,
                          .metric = metric,
                          .unit = "",
                          .lower_is_better = false});
  }
}

double count_right(const BenchResult& result, size_t first, size_t count) {
  double right = 0;
  for (size_t i = 0; i < count; ++i) right += result.row(kRowsOfCase * (first + i)).min > 0.5 ? 1 : 0;
  return right;
}

// `forecast`: which row of a case is taken as such.
double count_forecast(const BenchResult& result, size_t count, size_t forecast) {
  constexpr double kWithin = 0.2;
  double good = 0;
  for (size_t i = 0; i < count; ++i) {
    const double told = result.row(kRowsOfCase * i + forecast).median;
    const double measured = result.row(kRowsOfCase * i + 2).median;
    good += told > 0 && measured > 0 && std::abs(measured / told - 1) <= kWithin ? 1 : 0;
  }
  return good;
}

}  // namespace

Bench verdict_faults_bench(const BenchSetup&) {
  Bench bench{.name = "verdict.faults", .rounds = 3};
  std::vector<Case> all = faults();
  for (const Case& one : silent()) all.push_back(one);
  for (const Case& what : all) add_rows(what, bench);
  const size_t planted = faults().size(), quiet = silent().size();
  const auto changed = std::count_if(all.begin(), all.end(), [](const Case& what) { return what.changed != nullptr; });
  bench.targets.push_back({"verdict.faults.right", "planted mistakes found in each round", true,
                           static_cast<double>(planted),
                           [=](const BenchResult& result) { return count_right(result, 0, planted); }});
  bench.targets.push_back({"verdict.faults.silent", "runs without a mistake: no alarm in any round", true,
                           static_cast<double>(quiet),
                           [=](const BenchResult& result) { return count_right(result, planted, quiet); }});
  bench.targets.push_back({"verdict.faults.forecast", "gains within 20 % of the forecast", true,
                           std::floor(0.8 * static_cast<double>(changed)),
                           [=](const BenchResult& result) { return count_forecast(result, planted, 1); }});
  bench.targets.push_back({"verdict.faults.control", "control: a forecast that all waiting would end is rejected",
                           false, std::floor(0.8 * static_cast<double>(changed)) - 1,
                           [=](const BenchResult& result) { return count_forecast(result, planted, 3); }});
  bench.cycle = [all](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    for (const Case& what : all) {
      if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
      const auto of_case = samples_of(what, stop);
      if (!of_case) return fail(of_case.error());
      samples.insert(samples.end(), of_case->begin(), of_case->end());
    }
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
