// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond::cli {
namespace {

using testing::HasSubstr;

Bench bench() {
  Bench bench{.name = "queue.handoff", .consume = "xor"};
  for (const char* system : {"headpond", "onetbb"}) {
    bench.rows.push_back({.name = "fifo cap=16",
                          .params = {{"capacity", int64_t{16}}, {"payload", std::string("int64")}},
                          .system = system,
                          .system_version = "1",
                          .metric = "ns_per_item",
                          .unit = "ns"});
  }
  bench.ratios = {{.of = 0, .to = 1}};
  bench.targets = {
      {.id = "W1", .text = "at least 2 x", .at_least = true, .bound = 2, .value = [](const BenchResult& result) {
         return result.ratio(0).median;
       }}};
  return bench;
}

BenchResult result(double ratio) {
  return {.rounds = {{.values = {30, 30 * ratio}, .ratios = {ratio}, .cpu_s = {0.5, 0.75}, .other_cores = 0.01}},
          .digest_equal = true,
          .pss_peak_mib = 12};
}

std::string json(const BenchResult& of) {
  JsonWriter writer;
  writer.begin_object();
  write_bench(writer, bench(), of);
  writer.end_object();
  return writer.take();
}

TEST(BenchReport, HasTheAgreedMembers) {
  const std::string text = json(result(3));
  for (
      const char* part :
      {R"("name":"queue.handoff","rounds":1,"order":"ABAB","consume":"xor","consume_ns_per_kib":null)",
       R"({"case":"fifo cap=16","params":{"capacity":16,"payload":"int64"},"system":"headpond","system_version":"1",)"
       R"("metric":"ns_per_item","unit":"ns","better":"lower","median":30,"min":30,"max":30,"samples":[30],"cpu_s":0.5,)"
       R"("pss_peak_mib":12,"noisy":false})",
       R"("ratios":[{"case":"fifo cap=16","of":"headpond","to":"onetbb","metric":"ns_per_item","median":3,"min":3,"max":3}])",
       R"("targets":[{"id":"W1","text":"at least 2 x","value":3,"op":">=","bound":2,"pass":true}])",
       R"("digest_equal":true,"pass":true)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(BenchReport, HasWhatReadingCostsIfItWasMeasured) {
  BenchResult with = result(3);
  with.consume_ns_per_kib = 6.5;
  EXPECT_THAT(json(with), HasSubstr(R"("consume_ns_per_kib":6.5,)"));
}

TEST(BenchReport, EndsWithTheVerdicts) {
  EXPECT_THAT(json(result(3)), HasSubstr(R"("verdicts":[])"));
  Bench judged = bench();
  judged.verdicts = std::make_shared<const std::map<std::string, Verdict>>(std::map<std::string, Verdict>{
      {"short", {}}, {"two cores", {.code = ReasonCode::cpu_bound, .stage = "range|map", .op = "map"}}});
  const std::string text = format_bench(judged, result(3));
  EXPECT_THAT(text, HasSubstr("\ntwo cores\ncpu_bound: "));
  EXPECT_THAT(text, testing::Not(HasSubstr("short"))) << "there was no reason";
  JsonWriter writer;
  writer.begin_object();
  write_bench(writer, judged, result(3));
  writer.end_object();
  EXPECT_THAT(writer.text(), HasSubstr(R"({"case":"two cores","verdict":"cpu_bound: )"));
  EXPECT_THAT(writer.text(), HasSubstr(R"("reason_code":"cpu_bound")"));
}

TEST(BenchReport, AMissedTargetDoesNotPass) {
  EXPECT_THAT(json(result(1.5)), HasSubstr(R"("pass":false})"));
  EXPECT_THAT(format_bench(bench(), result(1.5)), HasSubstr("MISSED"));
  EXPECT_THAT(format_bench(bench(), result(3)), testing::Not(HasSubstr("MISSED")));
}

TEST(BenchReport, SaysThatOutputsDiffer) {
  BenchResult wrong = result(3);
  wrong.digest_equal = false;
  EXPECT_THAT(format_bench(bench(), wrong), HasSubstr("OUTPUTS DIFFER"));
  EXPECT_THAT(json(wrong), HasSubstr(R"("digest_equal":false,"pass":false)"));
}

TEST(BenchReport, SaysThatTheMachineWasNoisy) {
  BenchResult noisy = result(3);
  noisy.rounds[0].noisy = true;
  EXPECT_THAT(format_bench(bench(), noisy), HasSubstr("NOISY"));
  EXPECT_THAT(json(noisy), HasSubstr(R"("noisy":true)"));
}

TEST(BenchReport, OrderNamesSystemsByLetters) {
  Bench three = bench();
  three.rows.push_back(three.rows[0]);
  EXPECT_EQ(order_of(three), "ABAABA");
}

}  // namespace
}  // namespace headpond::cli
