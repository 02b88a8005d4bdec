// SPDX-License-Identifier: Apache-2.0
// Is the waiting that a Loader counts what a stopwatch around its calls sees?
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "cli/bench/bench_watch.h"
#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kSteps = 300, kRows = 16;
constexpr double kAllowedMs = 0.1, kAllowedShare = 0.01;

struct Case {
  const char *id, *name;
  double compute_us, sleep_us;  // For an element.
  double step_us;               // The program's step.
};
constexpr Case kCases[] = {{"dear", "data is dear", 300, 0, 0},
                           {"slow", "data is slow to come", 0, 2000, 0},
                           {"ready", "data is ready", 10, 0, 1000}};

Dataset dataset_of(const Case& what) {
  return range(kSteps * kRows) |
         map(
             [what](int64_t x) {
               compute_us(what.compute_us);
               if (what.sleep_us > 0)
                 std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(what.sleep_us));
               return x;
             },
             {.blocking = what.sleep_us > 0}) |
         batch(kRows);
}

struct Waits {
  std::vector<double> counted_ms, seen_ms;
};

Result<Waits> waits_of(const Case& what, RunLog* log) {
  Loader loader(dataset_of(what));
  const auto watch = watched(log, loader, what.id);
  Waits waits;
  int64_t before = 0;
  while (true) {
    const int64_t began = now_ns();
    const auto batch = loader.next();
    waits.seen_ms.push_back(1e-6 * static_cast<double>(now_ns() - began));
    if (!batch && !batch.error().is_end()) return fail(batch.error());
    const int64_t counted = loader.stats().wait_ns;
    waits.counted_ms.push_back(1e-6 * static_cast<double>(counted - before));
    before = counted;
    if (!batch) return waits;
    compute_us(what.step_us);
  }
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// By how much a step differs: in milliseconds on the mean, and over what is allowed of 99 in 100 steps at most.
struct Difference {
  double mean_ms = 0, p99_of_allowed = 0;
};

Difference difference(const Waits& waits) {
  std::vector<double> all, of_allowed;
  for (size_t i = 0; i < waits.seen_ms.size(); ++i) {
    all.push_back(std::abs(waits.counted_ms[i] - waits.seen_ms[i]));
    of_allowed.push_back(all.back() / std::max(kAllowedMs, kAllowedShare * waits.seen_ms[i]));
  }
  std::sort(of_allowed.begin(), of_allowed.end());
  return {mean(all), of_allowed[of_allowed.size() * 99 / 100]};
}

BenchRow row(const Case& what, const char* system, const char* metric, const char* unit) {
  return {.name = what.name,
          .params = {{"steps", kSteps}},
          .system = system,
          .system_version = HEADPOND_VERSION,
          .metric = metric,
          .unit = unit};
}

}  // namespace

Bench loader_wait_bench(const BenchSetup& setup) {
  Bench bench{.name = "loader.wait", .rounds = 3};
  for (const Case& what : kCases) {
    bench.rows.push_back(row(what, "headpond", "wait_ms_per_step", "ms"));
    bench.rows.push_back(row(what, "stopwatch", "wait_ms_per_step", "ms"));
    bench.rows.push_back(row(what, "headpond", "mean_difference_ms", "ms"));
    const size_t i = bench.rows.size();
    bench.rows.push_back(row(what, "headpond", "p99_difference_of_allowed", ""));
    bench.targets.push_back({fmt::format("loader.wait.{}", what.id),
                             fmt::format("{}: 99 of 100 steps differ by max(0.1 ms, 1 %) at most", what.name), false, 1,
                             [i](const BenchResult& result) { return result.row(i).median; }});
  }
  bench.cycle = [log = setup.log](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    for (const Case& what : kCases) {
      if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
      const auto waits = waits_of(what, log);
      if (!waits) return fail(waits.error());
      samples.push_back({mean(waits->counted_ms)});
      samples.push_back({mean(waits->seen_ms)});
      const auto [mean_ms, p99_of_allowed] = difference(*waits);
      samples.push_back({mean_ms});
      samples.push_back({p99_of_allowed});
    }
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
