// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace headpond::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

// A machine without a clock of its own: a cycle takes a second, and other processes use what the test says.
class Machine {
 public:
  BenchOptions options() {
    return {.say = [this](std::string_view line) { lines.emplace_back(line); },
            .cpu = [this] { return sample(); },
            .clock = [this] { return now; }};
  }
  /// A bench of two systems whose figures come from `figures`, cycle by cycle.
  Bench bench(std::deque<std::pair<double, double>> figures) {
    Bench bench{.name = "test", .rounds = 3};
    for (const char* system : {"ours", "theirs"}) {
      bench.rows.push_back({.name = "case", .system = system, .metric = "ns_per_item", .unit = "ns"});
    }
    bench.ratios = {{.of = 0, .to = 1}};
    bench.cycle = [this,
                   figures = std::move(figures)](const std::stop_token&) mutable -> Result<std::vector<BenchSample>> {
      now += kSecond;
      ++cycles;
      const auto [ours, theirs] = figures.front();
      if (figures.size() > 1) figures.pop_front();
      return std::vector<BenchSample>{{ours, 0.25}, {theirs, 0.5}};
    };
    return bench;
  }

  std::deque<double> others;  ///< Cores that other processes use, measurement by measurement; then none.
  int cycles = 0;
  std::vector<std::string> lines;
  int64_t now = 0;

 private:
  CpuSample sample() {
    const bool begins = ++samples_ % 2 == 1;
    if (!begins && !others.empty()) {
      all_s_ += others.front() * static_cast<double>(now - last_) / kSecond;
      others.pop_front();
    }
    last_ = now;
    return {.wall_ns = now, .all_s = all_s_, .stolen_s = 0, .own_s = 0};
  }
  int samples_ = 0;
  int64_t last_ = 0;
  double all_s_ = 0;
};

TEST(BenchHarness, ComparesOnlyFiguresOfTheSameRound) {
  Machine machine;
  // The machine becomes slower by half from round to round; the ratio stays. Medians of all figures would say 2.25.
  const auto result = run_bench(machine.bench({{10, 20}, {15, 30}, {22.5, 45}}), machine.options()).value();
  EXPECT_EQ(result.ratio(0).median, 2);
  EXPECT_EQ(result.ratio(0).min, 2);
  EXPECT_EQ(result.ratio(0).max, 2);
  EXPECT_EQ(result.row(0).median, 15);
  EXPECT_EQ(result.row(1).min, 20);
  EXPECT_EQ(result.row(1).max, 45);
}

TEST(BenchHarness, TakesTheMedianOfTheRoundsRatios) {
  Machine machine;
  const auto result = run_bench(machine.bench({{10, 20}, {10, 90}, {10, 30}}), machine.options()).value();
  EXPECT_EQ(result.ratio(0).median, 3);
}

TEST(BenchHarness, ARatioIsHowManyTimesBetterWhicheverWayIsBetter) {
  Machine machine;
  Bench bench = machine.bench({{20, 10}});
  EXPECT_EQ(run_bench(bench, machine.options()).value().ratio(0).median, 0.5);
  for (BenchRow& row : bench.rows) row.lower_is_better = false;
  EXPECT_EQ(run_bench(bench, machine.options()).value().ratio(0).median, 2);
}

TEST(BenchHarness, ARoundRepeatsItsCycleForItsTimeAndTakesMedians) {
  Machine machine;
  Bench bench = machine.bench({{10, 40}, {20, 40}, {5, 40}});
  bench.round_s = 3;
  bench.rounds = 1;
  const auto result = run_bench(bench, machine.options()).value();
  EXPECT_EQ(machine.cycles, 3);
  EXPECT_THAT(result.rounds.at(0).values, ElementsAre(10, 40));
  EXPECT_THAT(result.rounds.at(0).ratios, ElementsAre(4));
  EXPECT_THAT(result.rounds.at(0).cpu_s, ElementsAre(0.75, 1.5));
}

TEST(BenchHarness, MeasuresARoundAgainThatOthersDisturbed) {
  Machine machine;
  machine.others = {0, 0.5, 0.021, 0.019, 0.01};
  const auto result = run_bench(machine.bench({{1, 1}, {9, 9}, {9, 9}, {2, 2}, {3, 3}}), machine.options()).value();
  EXPECT_EQ(machine.cycles, 5);
  EXPECT_FALSE(result.noisy());
  EXPECT_EQ(result.rounds.at(1).repeats, 2);
  EXPECT_EQ(result.rounds.at(2).repeats, 0);
  EXPECT_EQ(result.row(0).max, 3) << "a disturbed round's figures were kept";
}

TEST(BenchHarness, SaysForEachMeasurementWhatOthersUsed) {
  Machine machine;
  machine.others = {0, 0.5};
  (void)run_bench(machine.bench({{1, 1}}), machine.options());
  EXPECT_THAT(machine.lines,
              ElementsAre(HasSubstr("round 1: other processes used 0.000 cores"),
                          HasSubstr("round 2: other processes used 0.500 cores, more than 0.02: again (1 of 5)"),
                          HasSubstr("round 2: other processes used 0.000 cores"), HasSubstr("round 3")));
}

TEST(BenchHarness, KeepsADisturbedRoundAfterFiveRepetitionsAndMarksIt) {
  Machine machine;
  machine.others = {0, 1, 1, 1, 1, 1, 1, 0};
  const auto result = run_bench(machine.bench({{1, 1}}), machine.options()).value();
  EXPECT_EQ(machine.cycles, 8);
  EXPECT_TRUE(result.noisy());
  EXPECT_TRUE(result.rounds.at(1).noisy);
  EXPECT_EQ(result.rounds.at(1).repeats, kRepeatsAtMost);
  EXPECT_FALSE(result.rounds.at(2).noisy);
  EXPECT_THAT(machine.lines.at(6), HasSubstr("after 5 repetitions: kept, noisy"));
}

TEST(BenchHarness, BeginsNoRoundAndNoRepetitionAfterItsTime) {
  Machine machine;
  BenchOptions options = machine.options();
  options.rounds = 100;
  options.seconds = 4;
  EXPECT_EQ(run_bench(machine.bench({{1, 1}}), options).value().rounds.size(), 4U);
  machine.others = {1, 1, 1, 1, 1, 1};
  const auto noisy = run_bench(machine.bench({{1, 1}}), options).value();
  EXPECT_EQ(noisy.rounds.size(), 1U);
  EXPECT_EQ(noisy.rounds[0].repeats, 3);
}

TEST(BenchHarness, RunsAtLeastOneRoundHoweverShortItsTime) {
  Machine machine;
  BenchOptions options = machine.options();
  options.seconds = 1e-6;
  EXPECT_EQ(run_bench(machine.bench({{1, 1}}), options).value().rounds.size(), 1U);
}

TEST(BenchHarness, EndsWhenAStopIsRequested) {
  Machine machine;
  std::stop_source source;
  BenchOptions options = machine.options();
  options.stop = source.get_token();
  source.request_stop();
  EXPECT_EQ(run_bench(machine.bench({{1, 1}}), options).error().kind(), ErrorKind::Cancelled);
}

TEST(BenchHarness, KeepsTheRoundsBeforeAStop) {
  Machine machine;
  std::stop_source source;
  BenchOptions options = machine.options();
  options.stop = source.get_token();
  Bench bench = machine.bench({{1, 1}});
  bench.digest_equal = [] { return false; };
  bench.cycle = [&, whole = bench.cycle](const std::stop_token& stop) {
    if (machine.cycles == 1) source.request_stop();
    return whole(stop);
  };
  const auto result = run_bench(bench, options).value();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.digest_equal, std::nullopt) << "half a round leaves outputs that cannot be compared";
  EXPECT_EQ(result.rounds.size(), 2U);
  EXPECT_FALSE(run_bench(machine.bench({{1, 1}}), machine.options()).value().interrupted);
}

TEST(BenchHarness, ACyclesErrorEndsIt) {
  Machine machine;
  Bench bench = machine.bench({{1, 1}});
  bench.cycle = [](const std::stop_token&) { return fail(ErrorKind::DataLoss, "broken"); };
  EXPECT_EQ(run_bench(bench, machine.options()).error().message(), "broken");
  bench.cycle = [](const std::stop_token&) -> Result<std::vector<BenchSample>> { return std::vector<BenchSample>(1); };
  EXPECT_THAT(run_bench(bench, machine.options()).error().message(), HasSubstr("1 samples for 2 rows"));
}

TEST(BenchHarness, PassesIffTargetsAreMetAndOutputsAgree) {
  Machine machine;
  Bench bench = machine.bench({{10, 20}});
  const auto ratio = [](const BenchResult& result) { return result.ratio(0).median; };
  bench.targets = {{.id = "a", .text = "", .at_least = true, .bound = 2, .value = ratio}};
  BenchResult result = run_bench(bench, machine.options()).value();
  EXPECT_TRUE(passes(bench, result));
  result.digest_equal = false;
  EXPECT_FALSE(passes(bench, result));
  result.digest_equal = true;
  bench.targets.push_back({.id = "b", .text = "", .at_least = false, .bound = 1.9, .value = ratio});
  EXPECT_FALSE(passes(bench, result));
  EXPECT_FALSE(passes(bench, {}));
}

TEST(BenchHarness, CountsTheCpuTimeOfThisProcess) {
  const BenchSample sample = with_cpu_time([] {
    double sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += static_cast<double>(i % 7);
    return sum;
  });
  EXPECT_GT(sample.value, 0);
  EXPECT_GT(sample.cpu_s, 0);
}

}  // namespace
}  // namespace headpond::cli
