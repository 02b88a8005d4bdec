// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/bench/benches.h"
#include "cli/bench/handoff.h"
#include "headpond/base/cpu.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;

TEST(BenchExitCode, IsThreeForAMissedTargetIfTargetsAreChecked) {
  EXPECT_EQ(bench_exit_code(true, true, true), 0);
  EXPECT_EQ(bench_exit_code(true, false, true), 3);
  EXPECT_EQ(bench_exit_code(true, false, false), 0);
  for (const bool met : {false, true}) {
    for (const bool check : {false, true}) EXPECT_EQ(bench_exit_code(false, met, check), 1);
  }
}

TEST(Handoff, NoticesItemsOutOfOrder) {
  const int cpu = allowed_cpus().front();
  const HandoffRun run{.capacity = 1, .items = 100, .producer_cpu = cpu, .consumer_cpu = cpu};
  const auto nothing = [](int, int64_t) {};
  EXPECT_TRUE(hand_off(run, true, nothing, [i = int64_t{0}](int) mutable { return i++; }).in_order);
  EXPECT_FALSE(hand_off(run, true, nothing, [i = int64_t{0}](int) mutable { return i++ ^ 1; }).in_order);
  EXPECT_FALSE(hand_off(run, true, nothing, [](int) { return int64_t{0}; }).in_order);
}

TEST(Handoff, WithoutAnOrderEachItemMustArriveOnce) {
  const int cpu = allowed_cpus().front();
  const HandoffRun run{.capacity = 1, .items = 100, .producer_cpu = cpu, .consumer_cpu = cpu};
  const auto nothing = [](int, int64_t) {};
  EXPECT_TRUE(hand_off(run, false, nothing, [i = int64_t{0}](int) mutable { return i++ ^ 1; }).in_order);
  EXPECT_FALSE(hand_off(run, false, nothing, [i = int64_t{0}](int) mutable { return i++ / 2; }).in_order);
}

// The benches that need no libtorch, one round as short as it gets.
class ShortBench : public testing::TestWithParam<Bench (*)(const BenchSetup&)> {};

TEST_P(ShortBench, MeasuresEachRowAndItsOutputsAgree) {
  const Bench bench = GetParam()({.peers = false, .cpus = allowed_cpus(), .items = 5000});
  const BenchResult result = run_bench(bench, {.rounds = 1, .seconds = 1e-3}).value();
  ASSERT_EQ(result.rounds.size(), 1U);
  EXPECT_TRUE(result.digest_equal.value());
  for (size_t i = 0; i < bench.rows.size(); ++i) EXPECT_GT(result.row(i).median, 0) << bench.rows[i].system;
  for (const BenchTarget& target : bench.targets) EXPECT_GT(target.value(result), 0) << target.id;
}

TEST(JpegTrainBench, ItsTargetsAreHeldAgainstTheDecodingOfTheSameCrops) {
  const Bench bench = jpeg_train_bench({.cpus = allowed_cpus(), .items = 1000});
  BenchResult result = {.rounds = {{}}};
  for (const BenchRatio& ratio : bench.ratios) {  // Which differ, and those to other systems are 0.
    const bool is_to_crops = bench.rows[ratio.to].system == "libjpeg-turbo, crop only";
    result.rounds[0].ratios.push_back(is_to_crops ? static_cast<double>(ratio.of) : 0);
  }
  std::vector<std::string> ids;
  for (const BenchTarget& target : bench.targets) {
    ids.push_back(target.id);
    const auto of = static_cast<size_t>(target.value(result));
    EXPECT_THAT(target.text, HasSubstr("(" + bench.rows[of].name + ")"));
    EXPECT_THAT(bench.rows[of].system, HasSubstr("headpond threads=0"));
    EXPECT_EQ(bench.rows[of].system == "headpond threads=0, indexed", target.id == "W7.jpeg.indexed");
  }
  EXPECT_THAT(ids,
              testing::ElementsAre("W7.jpeg.antialias", "W7.jpeg.plain", "W7.jpeg.two_streams", "W7.jpeg.indexed"));
}

TEST(RecordGzipBench, MissesTheTargetOfDataThatAreNotThere) {
  const test::TempFolder data;
  std::filesystem::create_directory(data.file("mnist-idx"));
  test::put_file(data.file("mnist-idx/a.gz"), test::gzip(test::Bytes(100'000)));
  const char* const was = std::getenv("HEADPOND_DATA");
  const std::string before = was == nullptr ? "" : was;
  setenv("HEADPOND_DATA", data.path().c_str(), 1);
  const Bench bench = record_gzip_bench({.cpus = allowed_cpus()});
  if (was == nullptr) {
    unsetenv("HEADPOND_DATA");
  } else {
    setenv("HEADPOND_DATA", before.c_str(), 1);
  }
  const BenchResult result = run_bench(bench, {.rounds = 1, .seconds = 1e-3}).value();
  EXPECT_EQ(bench.rows.size(), 2U);
  ASSERT_EQ(bench.targets.size(), 2U);
  EXPECT_GT(bench.targets[0].value(result), 0);
  EXPECT_EQ(bench.targets[1].id, "record.gzip.taxi");
  EXPECT_THAT(bench.targets[1].text, HasSubstr("not measured, " + data.path() + "/tfx-records has no .gz file"));
  EXPECT_FALSE(meets(bench.targets[1], bench.targets[1].value(result)));
  EXPECT_FALSE(passes(bench, result));
}

INSTANTIATE_TEST_SUITE_P(Benches, ShortBench,
                         testing::Values(rng_normal_bench, queue_handoff_bench, queue_many_bench, record_scan_bench),
                         [](const auto& instance) {
                           return instance.param({.peers = false, .cpus = allowed_cpus()}).name.substr(0, 3) +
                                  std::to_string(instance.index);
                         });

}  // namespace
}  // namespace headpond::cli
