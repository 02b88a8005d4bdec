// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "cli/bench/benches.h"
#include "headpond/train/articles/blstm.h"

namespace headpond::cli {
namespace {

constexpr int64_t kSteps = 8;  // Steps of a block.

struct Figure {
  const char* system;
  const char* metric;
  const char* unit;
  double (*of)(const BlstmRound&);
};
constexpr Figure kFigures[] = {
    {"feed", "step_s", "s", [](const BlstmRound& r) { return r.feed_step_s; }},
    {"feed", "generate_s", "s", [](const BlstmRound& r) { return r.generate_s; }},
    {"feed", "train_s", "s", [](const BlstmRound& r) { return r.train_s; }},
    {"queue", "step_s", "s", [](const BlstmRound& r) { return r.queue_step_s; }},
    {"queue", "step_over_limit", "1", [](const BlstmRound& r) { return r.over_limit(r.queue_step_s); }},
    {"loader", "step_s", "s", [](const BlstmRound& r) { return r.loader_step_s; }},
    {"loader", "step_over_limit", "1", [](const BlstmRound& r) { return r.over_limit(r.loader_step_s); }},
    {"feed_all_cores", "step_s", "s", [](const BlstmRound& r) { return r.all_cores_step_s; }},
};
constexpr size_t kFeedStep = 0, kQueueStep = 3, kQueueOverLimit = 4, kLoaderStep = 5, kLoaderOverLimit = 6;

// With one CPU the trainer has all of them in every mode.
size_t figure_count(const BenchSetup& setup) { return std::size(kFigures) - (setup.cpus.size() > 1 ? 0 : 1); }

}  // namespace

Bench blstm_step_bench(const BenchSetup& setup) {
  const BlstmOptions options{.seed = setup.seed};
  const size_t count = figure_count(setup);
  Bench bench{.name = "blstm.step", .consume = "CRC-32C, then a training step"};
  for (size_t i = 0; i < count; ++i) {
    bench.rows.push_back(
        {.name = fmt::format("blstm {} x {} x {} h={}", options.batch, options.time, options.features, options.hidden),
         .params = {{"steps", kSteps}, {"capacity", options.capacity}, {"generator", std::string("std")}},
         .system = kFigures[i].system,
         .system_version = HEADPOND_VERSION,
         .metric = kFigures[i].metric,
         .unit = kFigures[i].unit});
  }
  bench.ratios = {{kQueueStep, kFeedStep}, {kLoaderStep, kFeedStep}};
  for (const auto& [id, row] : {std::pair{"blstm.step", kQueueOverLimit}, {"blstm.step.loader", kLoaderOverLimit}}) {
    bench.targets.push_back({id, "a step at most 1.02 x max(generate, train) of feed", false, 1.02,
                             [row = row](const BenchResult& result) { return result.row(row).median; }});
  }
  const auto trial = std::make_shared<std::unique_ptr<BlstmTrial>>();
  const auto losses_equal = [trial] { return *trial && (*trial)->result().losses_equal.value_or(false); };
  bench.targets.push_back({"blstm.losses_equal", "losses of feed, queue and loader bitwise equal", true, 1,
                           [=](const BenchResult&) { return losses_equal() ? 1.0 : 0.0; }});
  bench.digest_equal = losses_equal;
  bench.cycle = [=, log = setup.log](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    if (!*trial) *trial = std::make_unique<BlstmTrial>(options, RunHooks{.stop = stop, .log = log});
    Result<BlstmRound> round;
    const double cpu_s = with_cpu_time([&] { return (round = (*trial)->round(kSteps)) ? 1.0 : 0.0; }).cpu_s;
    if (!round) return fail(round.error());
    std::vector<BenchSample> samples;
    for (size_t i = 0; i < count; ++i)
      samples.push_back({kFigures[i].of(*round), cpu_s});  // CPU time of the round: its rows share the work.
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
