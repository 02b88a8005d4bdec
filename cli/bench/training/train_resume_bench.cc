// SPDX-License-Identifier: Apache-2.0
// A training that was ended in its middle and goes on from its checkpoint, against one that was not.
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/temp_folder.h"
#include "headpond/base/clock.h"
#include "headpond/train/articles/digits/tones.h"
#include "headpond/train/articles/spoken/spoken_run.h"

namespace headpond::cli {
namespace {

constexpr int64_t kTakes = 9, kBatch = 10, kSteps = 40, kSaveSteps = 10;
constexpr SpokenPace kPace = {.prepare_s = 0.002, .train_s = 0.002};

struct Parts {
  explicit Parts(uint64_t with_seed) : seed(with_seed) {}
  const uint64_t seed;
  TempFolder folder{"resume"};
  SpokenSets sets;
  int64_t models = 0;  // Each run has a folder of its own.
  bool is_compared = false, losses_equal = true;
};

Result<void> draw(Parts& parts) {
  if (!parts.sets.train.paths.empty()) return {};
  HEADPOND_TRY(draw_tones(parts.folder.path, {.takes = kTakes}));
  auto found = find_spoken(parts.folder.path);
  if (!found) return fail(found.error());
  parts.sets = std::move(*found);
  return {};
}

Result<std::vector<double>> losses_of(const Parts& parts, const std::string& model_dir, int64_t max_steps,
                                      const std::stop_token& stop) {
  const SpokenRunOptions options = {.epochs = -1,
                                    .max_steps = max_steps,
                                    .config = {.model_dir = model_dir,
                                               .save_steps = kSaveSteps,
                                               .log_steps = 0,
                                               .summary_steps = 0,
                                               .seed = parts.seed},
                                    .stop = stop};
  auto run = run_paced_spoken(parts.sets, kBatch, kPace, options);
  if (!run) return fail(run.error());
  return std::move(run->losses);
}

// All steps in as many runs as `ends` has steps after which one ends. Returns the losses of all.
Result<std::vector<double>> in_runs(Parts& parts, const std::vector<int64_t>& ends, const std::stop_token& stop) {
  const std::string model_dir = fmt::format("{}/model_{}", parts.folder.path, parts.models++);
  std::vector<double> all;
  for (const int64_t end : ends) {
    const auto losses = losses_of(parts, model_dir, end, stop);
    if (!losses) return fail(losses.error());
    all.insert(all.end(), losses->begin(), losses->end());
  }
  return all;
}

Result<std::vector<BenchSample>> cycle(Parts& parts, const std::stop_token& stop) {
  HEADPOND_TRY(draw(parts));
  std::vector<BenchSample> samples;
  std::vector<std::vector<double>> losses;
  for (const std::vector<int64_t>& ends :
       {std::vector<int64_t>{kSteps}, std::vector<int64_t>{kSteps / 2 - 5, kSteps}}) {
    Result<std::vector<double>> all;
    samples.push_back(with_cpu_time([&] {
      const int64_t begin = now_ns();
      all = in_runs(parts, ends, stop);
      return static_cast<double>(now_ns() - begin) / 1e6;
    }));
    if (!all) return fail(all.error());
    losses.push_back(std::move(*all));
  }
  parts.is_compared = true;
  parts.losses_equal = parts.losses_equal && losses[0].size() == kSteps && losses[0] == losses[1];
  samples.push_back({samples[1].value - samples[0].value, samples[1].cpu_s - samples[0].cpu_s});
  return samples;
}

}  // namespace

Bench train_resume_bench(const BenchSetup& setup) {
  Bench bench{.name = "train.resume", .rounds = 5};
  const auto parts = std::make_shared<Parts>(setup.seed);
  const std::pair<const char*, const char*> rows[] = {
      {"one run", "run_ms"}, {"ended and resumed", "run_ms"}, {"ended and resumed", "more_ms"}};
  for (const auto& [system, metric] : rows) {
    bench.rows.push_back(
        {.name = fmt::format("{} steps, a checkpoint every {}, ended after {}", kSteps, kSaveSteps, kSteps / 2 - 5),
         .params = {{"steps", kSteps}, {"batch", kBatch}},
         .system = system,
         .system_version = HEADPOND_VERSION,
         .metric = metric,
         .unit = "ms"});
  }
  bench.ratios.push_back({1, 0});
  bench.targets = {{"train.resume.losses", "losses equal those of one run, to the last bit (1: they do)", true, 1,
                    [parts](const BenchResult&) { return parts->is_compared && parts->losses_equal ? 1.0 : 0.0; }}};
  bench.digest_equal = [parts] { return parts->losses_equal; };
  bench.cycle = [parts](const std::stop_token& stop) { return cycle(*parts, stop); };
  return bench;
}

}  // namespace headpond::cli
