// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <chrono>
#include <memory>

#include "cli/bench/benches.h"
#include "headpond/train/articles/mnist/mnist.h"

namespace headpond::cli {
namespace {

struct Block {
  int producers;  // 0: a prepared batch; kByLoader.
  int64_t steps;
};
constexpr int kByLoader = -1;
// Few producers make the same rate in every block, so a short one is enough. 64 and the Loader stand beside `ready`, as
// pairs.
constexpr Block kBlocks[] = {{1, 60}, {4, 120}, {16, 300}, {64, 300}, {0, 300}, {kByLoader, 300}};
constexpr size_t kSixtyFour = 3, kReady = 4, kLoader = 5;
constexpr double kSleepS = 0.05;
constexpr std::chrono::seconds kBefore{3};  // In which the Loader finds its depth.

std::string name_of(const Block& block) {
  if (block.producers == kByLoader) return "loader";
  return block.producers == 0 ? "ready" : fmt::format("producers {}", block.producers);
}

// The loader has no producers to count, and finds out by itself how many batches sleep at once.
std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> params_of(const Block& block) {
  if (block.producers == kByLoader) return {{"sleep_ms", int64_t{50}}, {"steps", block.steps}};
  return {{"producers", int64_t{block.producers}}, {"sleep_ms", int64_t{50}}, {"steps", block.steps}};
}

Result<std::vector<BenchSample>> cycle(MnistTrial& trial) {
  std::vector<BenchSample> samples;
  Error problem;
  for (const Block& block : kBlocks) {
    samples.push_back(with_cpu_time([&] {
      const auto epoch = block.producers == kByLoader ? trial.loader_block(block.steps, kBefore)
                                                      : trial.block(block.producers, block.steps);
      if (!epoch) problem = epoch.error();
      return epoch ? epoch->steady_it_per_s : 0;
    }));
    if (problem) return fail(problem);
  }
  return samples;
}

}  // namespace

Bench mnist_sleep_bench(const BenchSetup& setup) {
  Bench bench{.name = "mnist.sleep", .consume = "a training step", .rounds = 7};
  for (const Block& block : kBlocks) {
    bench.rows.push_back({.name = name_of(block),
                          .params = params_of(block),
                          .system = block.producers == 0 ? "ready" : "headpond",
                          .system_version = HEADPOND_VERSION,
                          .metric = "steady_it_per_s",
                          .unit = "1/s",
                          .lower_is_better = false});
  }
  bench.ratios = {{kSixtyFour, kReady}, {kLoader, kReady}};
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const double limit = kBlocks[i].producers / kSleepS;
    bench.targets.push_back({fmt::format("mnist.sleep.{}", kBlocks[i].producers),
                             fmt::format("at least 0.99 of {} it/s", limit), true, 0.99,
                             [i, limit](const BenchResult& result) { return result.row(i).median / limit; }});
  }
  bench.targets.push_back({"mnist.sleep.64", "at least 0.98 of a prepared batch", true, 0.98,
                           [](const BenchResult& result) { return result.ratio(0).median; }});
  bench.targets.push_back({"mnist.sleep.loader", "at least 0.98 of a prepared batch, 3 s after the start", true, 0.98,
                           [](const BenchResult& result) { return result.ratio(1).median; }});
  bench.cycle = [seed = setup.seed, log = setup.log,
                 trial = std::shared_ptr<MnistTrial>()](const std::stop_token& stop) mutable {
    if (!trial)
      trial = std::make_shared<MnistTrial>(MnistOptions{.recipe = {.seed = seed}}, RunHooks{.stop = stop, .log = log});
    return cycle(*trial);
  };
  return bench;
}

}  // namespace headpond::cli
