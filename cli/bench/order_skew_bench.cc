// SPDX-License-Identifier: Apache-2.0
// What an order costs when one sample in a hundred is a hundred times as dear: the others must go on meanwhile.
#include <fmt/core.h>

#include "cli/bench/benches.h"
#include "cli/bench/busy.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kSamples = 24'000, kRows = 32, kWindow = 128;  // Long enough for the end to be small.
constexpr double kUsualUs = 100, kSlowUs = 10'000;

struct Case {
  const char* name;
  const char* target;  // Null: none.
  int64_t rows;        // 1: elements that are no batches.
  int64_t run_ahead;   // In batches or elements; -1: nothing is set.
};
constexpr Case kCases[] = {{"batches of 32, window of 128", "window_128", kRows, kWindow / kRows},
                           {"single elements, window of 128", nullptr, 1, kWindow},
                           {"batches of 32, nothing set", "nothing_set", kRows, -1}};

// Asking for the time is work too, so the ideal counts what a sample takes when there is nothing else.
double all_us() {
  constexpr int kAsked = 2000;
  const double began = thread_cpu_us();
  for (int i = 0; i < kAsked; ++i) compute_us(kUsualUs);
  const double usual = (thread_cpu_us() - began) / kAsked;
  return kSamples * (0.99 * usual + 0.01 * (kSlowUs + usual - kUsualUs));
}

// The processor time of all samples over the processors, as a share of the time that it took.
Result<double> share_of_ideal(const Case& what, uint64_t seed, size_t cpus) {
  const Dataset samples = range(kSamples) | shuffle() | map([](int64_t x) {
                            compute_us(x % 100 == 0 ? kSlowUs : kUsualUs);
                            return x;
                          });
  Loader loader(what.rows > 1 ? samples | batch(what.rows) : samples, {.seed = seed, .run_ahead = what.run_ahead});
  const double ideal_us = all_us() / static_cast<double>(cpus);
  const int64_t began = now_ns();
  while (true) {
    const auto batch = loader.next();
    if (at_end(batch)) return 1e3 * ideal_us / static_cast<double>(now_ns() - began);
    if (!batch) return fail(batch.error());
  }
}

}  // namespace

Bench order_skew_bench(const BenchSetup& setup) {
  Bench bench{.name = "order.skew"};
  for (const Case& what : kCases) {
    const size_t i = bench.rows.size();
    if (what.target != nullptr) {
      bench.targets.push_back({fmt::format("order.skew.{}", what.target),
                               fmt::format("{}: at least 97 % of the ideal", what.name), true, 0.97,
                               [i](const BenchResult& result) { return result.row(i).median; }});
    }
    bench.rows.push_back({.name = fmt::format("1 % of samples 100 x dearer, {}", what.name),
                          .params = {{"samples", kSamples}, {"run_ahead", what.run_ahead}},
                          .system_version = HEADPOND_VERSION,
                          .metric = "share_of_ideal",
                          .unit = "",
                          .lower_is_better = false});
  }
  bench.cycle = [seed = setup.seed,
                 cpus = setup.cpus.size()](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    for (const Case& what : kCases) {
      if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
      Result<double> share = 0;
      samples.push_back(with_cpu_time([&] {
        share = share_of_ideal(what, seed, cpus);
        return share.value_or(0);
      }));
      if (!share) return fail(share.error());
    }
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
