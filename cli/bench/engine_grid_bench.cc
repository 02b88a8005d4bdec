// SPDX-License-Identifier: Apache-2.0
// Is a Loader of which nothing is set as fast as the best of a grid of settings?
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr std::array kThreads = {0, 1, 2, 4};
constexpr std::array<int64_t, 3> kRunAhead = {1, 4, 16};
constexpr int64_t kWarmUpNs = 100'000'000, kMeasuredNs = 300'000'000;

struct Shape {
  const char* name;
  Dataset dataset;
};

Step spin(double us) {
  return map([us](int64_t x) {
    compute_us(us);
    return x;
  });
}

Step wait(int us) {
  return map(
      [us](int64_t x) {
        std::this_thread::sleep_for(std::chrono::microseconds(us));
        return x;
      },
      {.blocking = true});
}

Dataset stream() {
  const auto make = [](uint64_t) -> Generator {
    return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> { return Element{Tensor::scalar(i++)}; };
  };
  return from_generator(make, {{"", i64, {}}});
}

// None ends while it is measured.
std::vector<Shape> shapes() {
  const auto third = [](int64_t x) { return x % 3 > 0; };
  const Dataset numbers = range(int64_t{1} << 40);
  return {
      {"cheap: range|shuffle|map|batch(256)", numbers | shuffle() | map([](int64_t x) { return x * 3; }) | batch(256)},
      {"dear: range|map(100 us)|batch(32)", numbers | spin(100) | batch(32)},
      {"waits: range|map(1 ms asleep)|batch(8)", numbers | wait(1000) | batch(8)},
      {"filter: range|map(30 us)|filter|batch(64)", numbers | spin(30) | filter(third) | batch(64)},
      {"stream: from_generator|map(100 us)|batch(32)", stream() | spin(100) | batch(32)}};
}

std::vector<LoaderOptions> settings() {
  std::vector<LoaderOptions> all = {{}};
  for (const int threads : kThreads) {
    for (const int64_t run_ahead : kRunAhead) all.push_back({.threads = threads, .run_ahead = run_ahead});
  }
  return all;
}

// Elements a second, once it runs.
Result<double> rate(const Dataset& dataset, const LoaderOptions& options) {
  Loader loader(dataset, options);
  const int64_t start = now_ns();
  int64_t began = 0, elements = 0;
  while (true) {
    const auto batch = loader.next();
    if (at_end(batch)) return fail(ErrorKind::OutOfRange, "too few elements for so fast a machine");
    if (!batch) return fail(batch.error());
    const int64_t now = now_ns();
    if (began > 0) elements += (*batch)[0].dim(0);
    if (began == 0 && now - start >= kWarmUpNs) began = now;
    if (began > 0 && now - began >= kMeasuredNs)
      return 1e9 * static_cast<double>(elements) / static_cast<double>(now - began);
  }
}

std::string text(const LoaderOptions& options) {
  return options.threads < 0 ? "nothing set"
                             : fmt::format("threads={} run_ahead={}", options.threads, options.run_ahead);
}

// The best setting is that of the medians, as the best of twelve in one round is the luckiest of them; it is compared
// round by round.
double over_best(const BenchResult& result, size_t first, size_t count) {
  size_t best = first + 1;
  for (size_t i = best; i < first + count; ++i) best = result.row(i).median > result.row(best).median ? i : best;
  std::vector<double> ratios;
  ratios.reserve(result.rounds.size());
  for (const BenchRound& round : result.rounds) ratios.push_back(round.values[first] / round.values[best]);
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

}  // namespace

Bench engine_grid_bench(const BenchSetup&) {
  Bench bench{.name = "engine.grid", .rounds = 3};
  const auto all = std::make_shared<const std::vector<Shape>>(shapes());
  const auto grid = settings();
  for (const Shape& shape : *all) {
    const size_t first = bench.rows.size();
    for (const LoaderOptions& options : grid) {
      bench.rows.push_back({.name = shape.name,
                            .params = {{"threads", int64_t{options.threads}}, {"run_ahead", options.run_ahead}},
                            .system = text(options),
                            .system_version = HEADPOND_VERSION,
                            .metric = "elements_per_s",
                            .unit = "1/s",
                            .lower_is_better = false});
    }
    bench.targets.push_back(
        {"engine.grid." + std::string(shape.name).substr(0, std::string(shape.name).find(':')),
         "nothing set: at least 0.95 of the best of 12 settings", true, 0.95,
         [first, count = grid.size()](const BenchResult& r) { return over_best(r, first, count); }});
  }
  bench.cycle = [all, grid](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    for (const Shape& shape : *all) {
      for (const LoaderOptions& options : grid) {
        if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
        Result<double> measured = 0;
        samples.push_back(with_cpu_time([&] {
          measured = rate(shape.dataset, options);
          return measured.value_or(0);
        }));
        if (!measured) return fail(measured.error());
      }
    }
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
