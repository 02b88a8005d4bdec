// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/bench/bench_report.h"
#include "cli/bench/children/bench_costs.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;

BenchRow row(const std::string& name, const std::string& system, const std::string& metric) {
  return {.name = name, .params = {{"capacity", int64_t{4}}}, .system = system, .metric = metric, .unit = "ns"};
}

// What `headpond bench --json` writes, in both layouts.
std::string json_of(const Bench& bench, const std::vector<double>& values, JsonLayout layout) {
  JsonWriter json(JsonNonFinite::AsString, layout);
  json.begin_object();
  write_bench(json, bench,
              {.rounds = {{.values = values, .ratios = {}, .cpu_s = std::vector<double>(values.size())}},
               .digest_equal = true});
  json.end_object();
  return json.take();
}

TEST(MedianIn, IsOfTheRowOfTheSameCaseSystemAndMetric) {
  Bench bench{.name = "queue.handoff"};
  bench.rows = {row("fifo cap=4 p=1", "onetbb", "ns_per_item"), row("fifo cap=4 p=1", "headpond", "cpu_ns_per_item"),
                row("fifo cap=4 p=1", "headpond", "ns_per_item"), row("fifo cap=4 p=2", "headpond", "ns_per_item")};
  for (const JsonLayout layout : {JsonLayout::Compact, JsonLayout::Indented}) {
    const std::string json = json_of(bench, {1.5, 2.5, 30.25, 4e-3}, layout);
    EXPECT_EQ(median_in(json, bench.rows[0]), 1.5);
    EXPECT_EQ(median_in(json, bench.rows[1]), 2.5);
    EXPECT_EQ(median_in(json, bench.rows[2]), 30.25);
    EXPECT_EQ(median_in(json, bench.rows[3]), 4e-3);
    EXPECT_EQ(median_in(json, row("fifo cap=4", "headpond", "ns_per_item")), std::nullopt);
    EXPECT_EQ(median_in(json, row("fifo cap=4 p=1", "headpond", "ns")), std::nullopt);
  }
  EXPECT_EQ(median_in("", bench.rows[0]), std::nullopt);
  for (const double no_time : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL})
    EXPECT_EQ(median_in(json_of(bench, {1, 1, no_time, 1}, JsonLayout::Compact), bench.rows[2]), std::nullopt);
}

// Rows of one bench: with and without, as often as the bench has rows of Headpond's.
void set_costs(const Bench& bench, const std::string& of, const std::vector<double>& costs, BenchRound& round) {
  size_t next = 0;
  for (size_t i = 0; i < bench.rows.size(); i += 2) {
    if (!bench.rows[i].name.starts_with(of + ": ")) continue;
    round.values[i] = 200 * costs[next++ % costs.size()];
    round.values[i + 1] = 200;
  }
}

TEST(TraceCost, IsTheMiddleOfTheRowsOfABench) {
  const Bench bench = trace_cost_bench({.cpus = {0}, .items = 5000});
  ASSERT_EQ(bench.targets.size(), 3U);
  BenchRound round;
  round.values.assign(bench.rows.size(), 1);
  set_costs(bench, "engine.tiny", {1.3}, round);
  set_costs(bench, "loader.mnist", {0.5, 1.005, 2}, round);
  set_costs(bench, "queue.handoff", {1.02, 1.02, 1.02, 50}, round);
  BenchResult result;
  result.rounds = {round};
  EXPECT_DOUBLE_EQ(bench.targets[0].value(result), 1.3);
  EXPECT_DOUBLE_EQ(bench.targets[1].value(result), 1.005);
  EXPECT_DOUBLE_EQ(bench.targets[2].value(result), 1.02);
  EXPECT_FALSE(meets(bench.targets[0], 1.3));
  EXPECT_TRUE(meets(bench.targets[1], 1.005));
  for (size_t i = 0; i < bench.rows.size(); i += 2) {
    EXPECT_EQ(bench.rows[i].name, bench.rows[i + 1].name);
    EXPECT_EQ(bench.rows[i].system, bench.rows[i + 1].system + " with a trace");
  }
}

TEST(StatsCost, TakesTheProgramThatIsNamed) {
  EXPECT_EQ(program_without_stats({.without_stats = "/no/such/program"}), "/no/such/program");
}

TEST(SideBySide, HasTheOneWithItFirstWhicheverIsMeasuredFirst) {
  for (const bool with_first : {true, false}) {
    std::vector<bool> measured;
    const Samples both = side_by_side(with_first, [&](bool with) -> Samples {
      measured.push_back(with);
      return std::vector<BenchSample>{{with ? 3.0 : 2.0}, {with ? 30.0 : 20.0}};
    });
    EXPECT_EQ(measured, (std::vector<bool>{with_first, !with_first}));
    std::vector<double> values;
    for (const BenchSample& sample : both.value()) values.push_back(sample.value);
    EXPECT_THAT(values, testing::ElementsAre(3, 2, 30, 20));
  }
  EXPECT_FALSE(side_by_side(true, [](bool with) -> Samples {
    if (!with) return fail(ErrorKind::NotFound, "no program");
    return std::vector<BenchSample>{{1}};
  }));
}

TEST(MediansOf, IsOfEachRowOverTheCalls) {
  const Samples medians = medians_of(5, [](int64_t i) -> Samples {
    const auto of_call = static_cast<double>((i * 2) % 5);  // 0, 2, 4, 1, 3
    return std::vector<BenchSample>{{.value = of_call, .cpu_s = 1}, {.value = -of_call, .pss_mib = of_call}};
  });
  ASSERT_EQ(medians.value().size(), 2U);
  EXPECT_EQ(medians.value()[0].value, 2);
  EXPECT_EQ(medians.value()[0].cpu_s, 5);
  EXPECT_EQ(medians.value()[1].value, -2);
  EXPECT_EQ(medians.value()[1].pss_mib, 4);
  int calls = 0;
  EXPECT_FALSE(medians_of(5, [&](int64_t) -> Samples {
    if (++calls == 2) return fail(ErrorKind::NotFound, "no program");
    return std::vector<BenchSample>{{1}};
  }));
  EXPECT_EQ(calls, 2);
}

TEST(StatsCost, NamesAProgramThatHasNoFigures) {
  const Bench bench = stats_cost_bench({.cpus = {0}, .items = 5000, .without_stats = "/bin/false"});
  const auto samples = bench.cycle({});  // Begins with the other program: this one, a test, has no benches.
  ASSERT_FALSE(samples);
  EXPECT_THAT(samples.error().message(), HasSubstr("/bin/false: exit code 1"));
}

}  // namespace
}  // namespace headpond::cli
