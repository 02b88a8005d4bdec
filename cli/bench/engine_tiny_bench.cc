// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "cli/bench/bench_watch.h"
#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kElements = 10'000'000, kBatch = 1024;

template <class Work>
BenchSample per_element(Work work) {
  return with_cpu_time([&] {
    const int64_t start = now_ns();
    work();
    return static_cast<double>(now_ns() - start) / static_cast<double>(kElements);
  });
}

struct Outputs {
  uint64_t loader = 0, loop = 0;
  Error error;
};

uint64_t run_loader(RunLog* log, Error& error) {
  const Dataset dataset = range(kElements) | map([](int64_t x) { return x; }) | batch(kBatch);
  Loader loader(dataset);
  const auto watch = watched(log, loader, "headpond");
  uint64_t all = 0;
  while (true) {
    const auto batch = loader.next();
    if (!batch && !batch.error().is_end()) error = batch.error();
    if (!batch) return all;
    all ^= xor_of(batch->element());
  }
}

// What is left when nobody makes batches but the loop itself.
uint64_t run_loop() {
  std::vector<int64_t> batch(kBatch);
  uint64_t all = 0;
  for (int64_t first = 0; first < kElements; first += kBatch) {
    const int64_t count = std::min(kBatch, kElements - first);
    for (int64_t i = 0; i < count; ++i) batch[static_cast<size_t>(i)] = first + i;
    all ^= xor_of(std::as_bytes(std::span(batch).first(static_cast<size_t>(count))));
  }
  return all;
}

}  // namespace

Bench engine_tiny_bench(const BenchSetup& setup) {
  Bench bench{.name = "engine.tiny", .consume = kXorName};
  const auto outputs = std::make_shared<Outputs>();
  for (const char* system : {"headpond", "bare loop"}) {
    bench.rows.push_back({.name = "range(10000000) | map(x) | batch(1024)",
                          .params = {{"elements", kElements}, {"batch", kBatch}},
                          .system = system,
                          .system_version = HEADPOND_VERSION,
                          .metric = "ns_per_element",
                          .unit = "ns"});
  }
  bench.ratios.push_back({0, 1});
  bench.targets.push_back({"engine.tiny", "at most 30 ns an element", false, 30,
                           [](const BenchResult& result) { return result.row(0).median; }});
  bench.cycle = [outputs, log = setup.log](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    samples.push_back(per_element([&] { outputs->loader = run_loader(log, outputs->error); }));
    samples.push_back(per_element([&] { outputs->loop = run_loop(); }));
    if (outputs->error) return fail(outputs->error);
    return samples;
  };
  bench.digest_equal = [outputs] { return outputs->loader == outputs->loop; };
  return bench;
}

}  // namespace headpond::cli
