// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>

#include "cli/bench/bench_watch.h"
#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kRows = 30, kBatches = 40, kSettled = 3;  // From the fourth batch on.
constexpr double kPrepareMs = 90, kStepMs = 50;

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

// The time between steps, in the steady state.
Result<std::vector<double>> steps_of(bool asleep, RunLog* log, const std::stop_token& stop, Verdict& verdict) {
  const Dataset dataset = range(kBatches * kRows) | map([asleep](int64_t x) {
                            asleep ? sleep_ms(kPrepareMs / kRows) : compute_us(1e3 * kPrepareMs / kRows);
                            return x;
                          }) |
                          batch(kRows);
  Loader loader(dataset);
  const auto watch = watched(log, loader, asleep ? "asleep" : "busy");
  std::vector<double> steps;
  int64_t last = 0;
  for (int64_t k = 0; k < kBatches && !stop.stop_requested(); ++k) {
    const auto batch = loader.next();
    if (!batch) return fail(batch.error());
    const int64_t now = now_ns();
    if (k > kSettled) steps.push_back(1e-6 * static_cast<double>(now - last));
    last = now;
    sleep_ms(kStepMs);
  }
  verdict = loader.diagnose();
  return steps;
}

struct Case {
  bool asleep;
  size_t cores;
  std::string name() const {
    return fmt::format("prepare {} ms {}, step {} ms, cores={}", kPrepareMs, asleep ? "asleep" : "of processor time",
                       kStepMs, cores);
  }
  double limit_ms() const { return asleep ? kStepMs : std::max(kStepMs, kPrepareMs / static_cast<double>(cores)); }
};

// Mean and 99th percentile. The Loader takes what the calling thread may use, so it needs no setting.
Result<void> measure(const Case& what, std::span<const int> cpus, RunLog* log, const std::stop_token& stop,
                     std::vector<BenchSample>& samples, Verdict& verdict) {
  const std::vector<int> before = allowed_cpus();
  pin_this_thread(cpus.first(what.cores));
  Result<std::vector<double>> steps;
  BenchSample mean = with_cpu_time([&] {
    steps = steps_of(what.asleep, log, stop, verdict);
    double sum = 0;
    if (steps) {
      for (const double step : *steps) sum += step;
    }
    return sum / std::max(1.0, steps ? static_cast<double>(steps->size()) : 1.0);
  });
  pin_this_thread(before);
  if (!steps) return fail(steps.error());
  if (steps->empty()) return fail(ErrorKind::Cancelled, "interrupted");
  std::sort(steps->begin(), steps->end());
  const double p99 = (*steps)[(steps->size() * 99 + 99) / 100 - 1];
  samples.push_back(mean);
  samples.push_back({p99, 0});
  return {};
}

}  // namespace

Bench engine_overlap_bench(const BenchSetup& setup) {
  Bench bench{.name = "engine.overlap", .rounds = 5};
  std::vector<Case> cases;
  for (const bool asleep : {false, true}) {
    for (size_t cores = 1; cores <= std::min(setup.cpus.size(), size_t{2}); ++cores) cases.push_back({asleep, cores});
  }
  for (const Case& what : cases) {
    for (const char* metric : {"mean_step_ms", "p99_step_ms"}) {
      const size_t row = bench.rows.size();
      const bool is_mean = row % 2 == 0;
      bench.rows.push_back({.name = what.name(),
                            .params = {{"cores", static_cast<int64_t>(what.cores)}},
                            .system_version = HEADPOND_VERSION,
                            .metric = metric,
                            .unit = "ms"});
      bench.targets.push_back({fmt::format("engine.overlap.{}.{}.{}", what.asleep ? "asleep" : "busy", what.cores,
                                           is_mean ? "mean" : "p99"),
                               fmt::format("{}, cores={}: {} at most {} x {} ms", what.asleep ? "asleep" : "busy",
                                           what.cores, is_mean ? "mean" : "p99", is_mean ? 1.02 : 1.1, what.limit_ms()),
                               false, (is_mean ? 1.02 : 1.1) * what.limit_ms(),
                               [row](const BenchResult& result) { return result.row(row).median; }});
    }
  }
  const auto verdicts = std::make_shared<std::map<std::string, Verdict>>();
  bench.verdicts = verdicts;
  bench.cycle = [cases, verdicts, cpus = setup.cpus,
                 log = setup.log](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    for (const Case& what : cases) {
      if (auto measured = measure(what, cpus, log, stop, samples, (*verdicts)[what.name()]); !measured)
        return fail(measured.error());
    }
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
