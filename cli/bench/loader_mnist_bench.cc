// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/bench/bench_watch.h"
#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "cli/bench/mnist_by_hand.h"
#include "cli/bench/peers/loader_peers.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

struct LoaderRun {
  bool made_inline = false;
  Verdict verdict = {};
};

Result<uint64_t> run_loader(const Digits& digits, uint64_t seed, int threads, LoaderRun& run, RunLog* log = nullptr) {
  const Dataset dataset = from_tensor_slices({{"image", digits.images}, {"label", digits.labels}}) | shuffle() |
                          map("image", [](uint8_t pixel) { return scaled(pixel); }) | batch(kBatch);
  Loader loader(dataset, {.epochs = kEpochs, .seed = seed, .threads = threads});
  const auto watch = watched(log, loader, "headpond");
  uint64_t all = 0;
  while (true) {
    const auto next = loader.next();
    if (at_end(next)) break;
    if (!next) return fail(next.error());
    all ^= xor_of(next->element());
  }
  run = {loader.stats().inline_now, loader.diagnose()};
  return all;
}

// Only the reading, of memory that is in the cache.
uint64_t run_xor() {
  std::vector<float> rows(kBatch * kPixels, 1.5F);
  uint64_t all = 0;
  for (int64_t batch = 0; batch < kEpochs * kExamples / kBatch; ++batch) {
    rows[0] = static_cast<float>(batch);
    all ^= xor_of(std::as_bytes(std::span(rows)));
  }
  return all;
}

struct Outputs {
  uint64_t by_loader = 0, by_hand = 0, by_limit = 0;
  int64_t runs = 0, inline_runs = 0;  // Runs of the loader without settings.
  const std::shared_ptr<std::map<std::string, Verdict>> verdicts = std::make_shared<std::map<std::string, Verdict>>();

  void add(const LoaderRun& run) {
    ++runs;
    inline_runs += run.made_inline ? 1 : 0;
    (*verdicts)["headpond"] = run.verdict;
  }
};

struct System {
  std::string name, version, metric;
  std::function<Result<uint64_t>()> run;  // Null: the processor time of the system before.
};

std::vector<System> systems(const std::shared_ptr<Digits>& digits, const BenchSetup& setup,
                            const std::shared_ptr<Outputs>& outputs) {
  const uint64_t seed = setup.seed;
  std::vector<System> all;
  const std::string wall = "ns_per_example", cpu = "cpu_ns_per_example";
  const auto add = [&](const std::string& name, const std::string& version, auto run, bool with_cpu) {
    all.push_back({name, version, wall, run});
    if (with_cpu) all.push_back({name, version, cpu, {}});
  };
  add(
      "headpond", HEADPOND_VERSION,
      [=, log = setup.log] {
        LoaderRun run;
        auto read = run_loader(*digits, seed, -1, run, log);
        outputs->add(run);
        return read;
      },
      true);
  add(
      "hand loop", HEADPOND_COMPILER, [=] { return Result<uint64_t>(run_by_hand(*digits, seed)); }, true);
  add(
      "loop that fetches ahead", HEADPOND_COMPILER, [=] { return Result<uint64_t>(run_fetching_ahead(*digits, seed)); },
      true);
  for (const int threads : {0, 1, 2}) {
    add(
        fmt::format("headpond threads={}", threads), HEADPOND_VERSION,
        [=] {
          LoaderRun run;
          return run_loader(*digits, seed, threads, run);
        },
        false);
  }
  add(
      "xor64x4 alone", HEADPOND_COMPILER, [] { return Result<uint64_t>(run_xor()); }, false);
  if (!setup.peers) return all;
  for (const LoaderPeer& peer : torch_data_peers(digits->images, digits->labels, kBatch)) {
    add(peer.name, peer.version, peer.epoch, false);
  }
  return all;
}

Result<std::vector<BenchSample>> cycle(const std::vector<System>& all, Outputs& outputs) {
  std::vector<BenchSample> samples;
  for (size_t i = 0; i < all.size(); ++i) {
    const System& system = all[i];
    if (!system.run) {
      const BenchSample& before = samples.back();
      samples.push_back({1e9 * before.cpu_s / static_cast<double>(kEpochs * kExamples), before.cpu_s});
      continue;
    }
    const int64_t examples = system.name.rfind("torch", 0) == 0 ? kExamples : kEpochs * kExamples;
    Result<uint64_t> read = 0;
    samples.push_back(with_cpu_time([&] {
      const int64_t start = now_ns();
      read = system.run();
      return static_cast<double>(now_ns() - start) / static_cast<double>(examples);
    }));
    if (!read) return fail(read.error());
    if (system.name == "headpond") outputs.by_loader = *read;
    if (system.name == "hand loop") outputs.by_hand = *read;
    if (system.name == "loop that fetches ahead") outputs.by_limit = *read;
  }
  return samples;
}

// The worker counts of a peer are rows of their own; what counts is its best one in each round.
void add_peer_target(Bench& bench, const std::string& peer, double bound) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < bench.rows.size(); ++i) {
    if (bench.rows[i].system.rfind(peer, 0) == 0) rows.push_back(i);
  }
  if (rows.empty()) return;
  bench.targets.push_back({"loader.mnist." + peer,
                           fmt::format("at least {} x {} at its best worker count", bound, peer), true, bound,
                           [rows](const BenchResult& result) {
                             std::vector<double> ratios;
                             for (const BenchRound& round : result.rounds) {
                               double best = round.values[rows[0]];
                               for (const size_t row : rows) best = std::min(best, round.values[row]);
                               ratios.push_back(best / round.values[0]);
                             }
                             return median(std::move(ratios));
                           }});
}

}  // namespace

Bench loader_mnist_bench(const BenchSetup& setup) {
  const auto digits = std::make_shared<Digits>(setup.seed);
  const auto outputs = std::make_shared<Outputs>();
  const auto all = std::make_shared<std::vector<System>>(systems(digits, setup, outputs));
  Bench bench{.name = "loader.mnist", .consume = kXorName, .rounds = 7};
  for (const System& system : *all) {
    bench.rows.push_back({.name = "slices | shuffle | map(u8 to float/255) | batch(32)",
                          .params = {{"examples", kExamples}, {"batch", kBatch}},
                          .system = system.name,
                          .system_version = system.version,
                          .metric = system.metric,
                          .unit = "ns"});
  }
  bench.ratios = {{0, 2}, {1, 3}, {0, 4}, {1, 5}};
  bench.targets.push_back({"loader.mnist.hand", "per core at least 0.6 x a hand-written loop", true, 0.6,
                           [](const BenchResult& result) { return result.ratio(1).median; }});
  bench.targets.push_back({"loader.mnist.limit", "per core at least 0.8 x a loop that fetches the next rows ahead",
                           true, 0.8, [](const BenchResult& result) { return result.ratio(3).median; }});
  bench.targets.push_back({"loader.mnist.inline",
                           "nothing set: the thread that takes makes the batches, at the end of each run", true, 1,
                           [outputs](const BenchResult&) {
                             const auto runs = static_cast<double>(std::max<int64_t>(outputs->runs, 1));
                             return static_cast<double>(outputs->inline_runs) / runs;
                           }});
  add_peer_target(bench, "torch::data get,", 8);
  add_peer_target(bench, "torch::data MNIST,", 4);
  add_peer_target(bench, "torch::data get_batch,", 1.2);
  bench.verdicts = outputs->verdicts;
  bench.cycle = [all, outputs](const std::stop_token&) { return cycle(*all, *outputs); };
  bench.digest_equal = [outputs] {
    return outputs->by_loader == outputs->by_hand && outputs->by_limit == outputs->by_hand;
  };
  return bench;
}

}  // namespace headpond::cli
