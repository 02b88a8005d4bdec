// SPDX-License-Identifier: Apache-2.0
// Does a Loader find the mistake that was planted in a pipeline, and is the gain that it forecasts the one that the
// change brings? Is it silent where there is nothing to say? Is what it reports as wait what the program waits?
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/verdict/planted_mistakes.h"
#include "cli/session.h"

namespace headpond::cli {
namespace {

constexpr int64_t kSteps = 160;

// Whether it was right; the gain that was told, and the one that was measured; the gain of an input without waits; how
// far the reported wait is off; whether it would be right with two stages swapped, and without probes.
constexpr std::array kMetrics = {"right",
                                 "gain_told",
                                 "gain_measured",
                                 "gain_of_a_perfect_input",
                                 "wait_error",
                                 "right_with_stages_swapped",
                                 "right_without_probes"};
constexpr size_t kRowsOfCase = kMetrics.size();
enum Metric : size_t { kRight, kTold, kMeasured, kPerfect, kWaitError, kSwapped, kNoProbes };

std::array<double, kRowsOfCase> figures_of(const PlantedMistake& what, const PlantedRun& run) {
  const auto found = [&](const Verdict& verdict) { return what.is_found_by(verdict) ? 1.0 : 0.0; };
  std::array<double, kRowsOfCase> figures = {found(run.verdict)};
  figures[kPerfect] = 1 / std::max(1 - run.verdict.wait_share, 0.01);
  figures[kWaitError] = run.wait_error();
  figures[kSwapped] = found(with_stages_swapped(run));
  figures[kNoProbes] = found(without_probes(run));
  return figures;
}

Result<std::array<double, kRowsOfCase>> figures_of(const PlantedMistake& what, const std::stop_token& stop) {
  const auto before = run_planted(what.make(kSteps), kSteps, stop);
  if (!before) return fail(before.error());
  auto figures = figures_of(what, *before);
  const std::vector<Change>& changes = before->verdict.changes;
  if (figures[kRight] == 0) put_on_stderr(fmt::format("{}:\n{}", what.name, before->verdict.to_string()));
  if (what.changed == nullptr || figures[kRight] == 0 || changes.empty()) return figures;
  const auto after = run_planted(what.changed(changes[0], kSteps), kSteps, stop);
  if (!after) return fail(after.error());
  figures[kTold] = changes[0].gain;
  figures[kMeasured] = after->steps_per_s / before->steps_per_s;
  return figures;
}

void add_row(std::string name, const char* metric, Bench& bench) {
  bench.rows.push_back({.name = std::move(name),
                        .params = {{"steps", kSteps}},
                        .system_version = HEADPOND_VERSION,
                        .metric = metric,
                        .unit = "",
                        .lower_is_better = false});
}

double count_right(const BenchResult& result, size_t first, size_t count, Metric right) {
  double all = 0;
  for (size_t i = 0; i < count; ++i) all += result.row(kRowsOfCase * (first + i) + right).min > 0.5 ? 1 : 0;
  return all;
}

// The median, over the rounds that made the change, of the measured gain over the forecast; 0: they are too few.
// `forecast`: which figure is taken as such.
double measured_over(const BenchResult& result, size_t i, Metric forecast) {
  std::vector<double> ratios;
  for (const BenchRound& round : result.rounds) {
    const double told = round.values[kRowsOfCase * i + forecast], measured = round.values[kRowsOfCase * i + kMeasured];
    if (told > 0 && measured > 0) ratios.push_back(measured / told);
  }
  return ratios.empty() || 2 * ratios.size() < result.rounds.size() ? 0 : median(ratios);
}

double count_forecast(const BenchResult& result, size_t count, Metric forecast) {
  constexpr double kWithin = 0.2;
  double good = 0;
  for (size_t i = 0; i < count; ++i) good += std::abs(measured_over(result, i, forecast) - 1) <= kWithin ? 1 : 0;
  return good;
}

double worst_wait(const BenchResult& result, size_t count) {
  double worst = 0;
  for (size_t i = 0; i < count; ++i) worst = std::max(worst, result.row(kRowsOfCase * i + kWaitError).median);
  return worst;
}

struct Counts {
  size_t planted, quiet;
  double changed;  // Planted mistakes whose change is made.
};

void add_targets(const Counts& counts, Bench& bench) {
  const auto [planted, quiet, changed] = counts;
  const double enough = std::floor(0.8 * changed);
  const auto add = [&](std::string id, std::string text, bool at_least, double bound, auto value) {
    bench.targets.push_back({"verdict.faults." + std::move(id), std::move(text), at_least, bound, std::move(value)});
  };
  const auto right = [=](size_t first, size_t count, Metric metric) {
    return [=](const BenchResult& result) { return count_right(result, first, count, metric); };
  };
  add("right", "planted mistakes found in each round", true, static_cast<double>(planted), right(0, planted, kRight));
  add("silent", "runs without a mistake: no alarm in any round", true, static_cast<double>(quiet),
      right(planted, quiet, kRight));
  add("forecast", "gains within 20 % of the forecast", true, enough,
      [=](const BenchResult& result) { return count_forecast(result, planted, kTold); });
  add("wait", "reported wait against a stopwatch's; 1: off by 1 % or 0.1 ms a step", false, 1,
      [=](const BenchResult& result) { return worst_wait(result, planted + quiet); });
  add("control", "control: a forecast that all waiting would end is rejected", false, enough - 1,
      [=](const BenchResult& result) { return count_forecast(result, planted, kPerfect); });
  add("control_wait", "control: a wait that is measured after a buffer is rejected", true, 2,
      [=](const BenchResult& result) { return result.row(kRowsOfCase * (planted + quiet)).median; });
  add("control_stages", "control: mistakes found with two stages swapped are too few", false,
      static_cast<double>(planted) - 1, right(0, planted, kSwapped));
  add("control_probes", "control: mistakes found without probes are too few", false, static_cast<double>(planted) - 1,
      right(0, planted, kNoProbes));
}

Result<std::vector<BenchSample>> samples_of(const std::vector<PlantedMistake>& all, const std::stop_token& stop) {
  std::vector<BenchSample> samples;
  for (const PlantedMistake& what : all) {
    if (stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
    const auto figures = figures_of(what, stop);
    if (!figures) return fail(figures.error());
    for (const double figure : *figures) samples.push_back({figure});
  }
  const auto buffered = run_planted(slow_input(kSteps / 4), kSteps / 4, stop, TakeFrom::after_a_buffer);
  if (!buffered) return fail(buffered.error());
  samples.push_back({buffered->wait_error()});
  return samples;
}

}  // namespace

Bench verdict_faults_bench(const BenchSetup&) {
  Bench bench{.name = "verdict.faults", .rounds = 3};
  std::vector<PlantedMistake> all = planted_mistakes();
  const size_t planted = all.size();
  for (const PlantedMistake& one : runs_without_a_mistake()) all.push_back(one);
  for (const PlantedMistake& what : all) {
    for (const char* const metric : kMetrics) add_row(what.name, metric, bench);
  }
  add_row("control: a wait that is measured after a buffer", kMetrics[kWaitError], bench);
  const auto changed = std::count_if(all.begin(), all.end(), [](const auto& what) { return what.changed != nullptr; });
  add_targets({planted, all.size() - planted, static_cast<double>(changed)}, bench);
  bench.cycle = [all](const std::stop_token& stop) { return samples_of(all, stop); };
  return bench;
}

}  // namespace headpond::cli
