// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/temp_folder.h"
#include "headpond/train/articles/digits/tones.h"
#include "headpond/train/articles/spoken/spoken_run.h"

namespace headpond::cli {
namespace {

constexpr int64_t kTakes = 9;  // A digit by a speaker: 80 words for the training, 100 for the test.
constexpr int64_t kBatch = 10, kSteps = 40, kStepsOfACall = 8;  // Five evaluations.
constexpr double kPrepareMs = 20, kTrainMs = 10;                // A hundredth of the article's.
constexpr double kLongTrainMs = 40;                             // Twice the data.
constexpr double kMostOverLimit = 1.02, kMostWaitMs = 5, kLeastInTurn = 2.9, kMostWaitShare = 0.05;

struct Case {
  bool asleep;
  double scale;  // Factor of the times.
  double train_ms() const { return scale * kTrainMs; }
  SpokenPace pace() const {
    return {.prepare_s = 1e-3 * scale * kPrepareMs, .train_s = 1e-3 * train_ms(), .computes = !asleep};
  }
  std::string name() const {
    return fmt::format("prepare {} ms {}, train {} ms, an evaluation every {} steps", scale * kPrepareMs,
                       asleep ? "asleep" : "of processor time", train_ms(), kStepsOfACall);
  }
  std::string id(const char* what) const {
    return fmt::format("train.overlap.{}.{}", asleep ? "asleep" : "busy", what);
  }
};

struct System {
  SpokenInputs inputs;
  const char* name;
};
constexpr System kSystems[] = {
    {SpokenInputs::turn, "in turn"}, {SpokenInputs::fresh, "fresh"}, {SpokenInputs::warm, "warm"}};

// What is measured once more for its wait: a step that costs twice the data.
SpokenPace long_step(double scale) {
  return {.prepare_s = 1e-3 * scale * kPrepareMs, .train_s = 1e-3 * scale * kLongTrainMs, .computes = false};
}

// The bench, while it is built and while it runs.
struct Parts {
  explicit Parts(const BenchSetup& with) : setup(with) {}
  const BenchSetup setup;
  const double scale = setup.items < BenchSetup().items ? 0.1 : 1;  // A brief run only shows that it works.
  const std::vector<Case> cases = {{.asleep = true, .scale = scale}, {.asleep = false, .scale = scale}};
  TempFolder folder{"words"};
  SpokenSets sets;
  bool losses_equal = true;

  double limit_ms(const Case& of) const { return 1e3 * limit_s(of.pace(), static_cast<int>(setup.cpus.size())); }
  Result<void> draw() {
    if (!sets.train.paths.empty()) return {};
    HEADPOND_TRY(draw_tones(folder.path, {.takes = kTakes}));
    auto found = find_spoken(folder.path);
    if (!found) return fail(found.error());
    sets = std::move(*found);
    return {};
  }
};

// The figures of a system: the first for each, the others of warm inputs.
struct Figures {
  double step_ms = 0, evaluation_wait_ms = 0, next_wait_ms = 0;
  std::vector<double> losses = {};
  double cpu_s = 0;
};
SpokenRunOptions options_of(const Parts& parts, SpokenInputs inputs, const std::stop_token& stop) {
  return {.inputs = inputs,
          .epochs = -1,
          .max_steps = kSteps,
          .config = {.save_steps = kStepsOfACall, .log_steps = 0, .seed = parts.setup.seed},
          .stop = stop};
}

Result<Figures> measure(const Parts& parts, const Case& of, const System& system, const std::stop_token& stop) {
  const SpokenRunOptions options = options_of(parts, system.inputs, stop);
  Result<SpokenRun> run;
  const double cpu_s =
      with_cpu_time([&] { return (run = run_paced_spoken(parts.sets, kBatch, of.pace(), options)) ? 1.0 : 0.0; }).cpu_s;
  if (!run) return fail(run.error());
  const SpokenEvaluation& second = run->evaluations.at(1);
  return Figures{1e3 * run->clock.step_s(), second.first_wait_ms, second.next_wait_ms.value_or(0),
                 std::move(run->losses), cpu_s};
}

Result<void> measure_case(Parts& parts, const Case& of, const std::stop_token& stop,
                          std::vector<BenchSample>& samples) {
  std::vector<double> in_turn;
  for (const System& system : kSystems) {
    auto figures = measure(parts, of, system, stop);
    if (!figures) return fail(figures.error());
    samples.push_back({figures->step_ms, figures->cpu_s});
    if (system.inputs == SpokenInputs::turn) in_turn = std::move(figures->losses);
    if (system.inputs != SpokenInputs::warm) continue;
    parts.losses_equal = parts.losses_equal && figures->losses == in_turn;
    for (const double more :
         {figures->step_ms / parts.limit_ms(of), figures->evaluation_wait_ms, figures->next_wait_ms})
      samples.push_back({more, figures->cpu_s});
  }
  return {};
}

Result<void> measure_long_step(const Parts& parts, SpokenInputs inputs, const std::stop_token& stop,
                               std::vector<BenchSample>& samples) {
  Result<SpokenRun> run;
  const auto options = options_of(parts, inputs, stop);
  const auto train = [&] {
    run = run_paced_spoken(parts.sets, kBatch, long_step(parts.scale), options);
    return run ? 1.0 : 0.0;
  };
  const double cpu_s = with_cpu_time(train).cpu_s;
  if (!run) return fail(run.error());
  samples.push_back({run->clock.wait_share(), cpu_s});
  return {};
}

BenchTarget at_most(std::string id, std::string text, double bound, size_t row) {
  return {std::move(id), std::move(text), false, bound,
          [row](const BenchResult& result) { return result.row(row).median; }};
}

void add_case(Bench& bench, const Parts& parts, const Case& of) {
  const auto add_row = [&](const char* system, const char* metric, const char* unit) {
    bench.rows.push_back({.name = of.name(),
                          .params = {{"steps", kSteps}, {"batch", kBatch}},
                          .system = system,
                          .system_version = HEADPOND_VERSION,
                          .metric = metric,
                          .unit = unit});
    return bench.rows.size() - 1;
  };
  const size_t turn = add_row("in turn", "step_ms", "ms"), fresh = add_row("fresh", "step_ms", "ms"),
               warm = add_row("warm", "step_ms", "ms"), over = add_row("warm", "step_over_limit", "1"),
               first = add_row("warm", "second_evaluation_first_wait_ms", "ms"),
               next = add_row("warm", "training_next_wait_ms", "ms");
  bench.ratios.push_back({warm, turn});
  bench.ratios.push_back({warm, fresh});
  const std::string limit = fmt::format("{} ms", parts.limit_ms(of));
  bench.targets.push_back(
      at_most(of.id("step"), fmt::format("warm: a step at most {} x {}", kMostOverLimit, limit), kMostOverLimit, over));
  bench.targets.push_back(
      at_most(of.id("evaluation"), "warm: the second evaluation's first batch in at most 5 ms", kMostWaitMs, first));
  bench.targets.push_back(
      at_most(of.id("next"), "warm: the training's next batch after it in at most 5 ms", kMostWaitMs, next));
  bench.targets.push_back(
      {of.id("turn"), fmt::format("control: in turn a step takes at least {} x the training", kLeastInTurn), true,
       kLeastInTurn, [turn, of](const BenchResult& result) { return result.row(turn).median / of.train_ms(); }});
}

void add_long_step(Bench& bench, const Parts& parts) {
  for (const char* const system : {"warm", "in turn"})
    bench.rows.push_back({.name = fmt::format("prepare {} ms asleep, train {} ms, an evaluation every {} steps",
                                              parts.scale * kPrepareMs, parts.scale * kLongTrainMs, kStepsOfACall),
                          .params = {{"steps", kSteps}, {"batch", kBatch}},
                          .system = system,
                          .system_version = HEADPOND_VERSION,
                          .metric = "wait_share",
                          .unit = "1"});
  const size_t turn = bench.rows.size() - 1, warm = turn - 1;
  bench.targets.push_back(at_most(
      "train.overlap.wait", "warm: a step that costs twice the data waits at most 5 % of it", kMostWaitShare, warm));
  bench.targets.push_back({"train.overlap.wait.turn", "control: in turn it waits at least 25 % of it", true, 0.25,
                           [turn](const BenchResult& result) { return result.row(turn).median; }});
}

}  // namespace

Bench train_overlap_bench(const BenchSetup& setup) {
  Bench bench{.name = "train.overlap", .rounds = 5};
  const auto parts = std::make_shared<Parts>(setup);
  for (const Case& of : parts->cases) add_case(bench, *parts, of);
  add_long_step(bench, *parts);
  bench.digest_equal = [parts] { return parts->losses_equal; };
  bench.cycle = [parts](const std::stop_token& stop) -> Result<std::vector<BenchSample>> {
    HEADPOND_TRY(parts->draw());
    std::vector<BenchSample> samples;
    for (const Case& of : parts->cases) HEADPOND_TRY(measure_case(*parts, of, stop, samples));
    for (const SpokenInputs inputs : {SpokenInputs::warm, SpokenInputs::turn})
      HEADPOND_TRY(measure_long_step(*parts, inputs, stop, samples));
    return samples;
  };
  return bench;
}

}  // namespace headpond::cli
