// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/run_report.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord run_of(int64_t points) {
  RunRecord run{.machine = {"2026-05-01T12:00:00Z", 42, 2, "AVX2"}, .is_whole = true};
  for (int64_t i = 0; i < points; ++i) {
    const double share = i < points / 2 ? 0 : 0.5;
    run.points.push_back({static_cast<double>(i), i, 0.5, 0.25, 1 << 20, {{"", share, 2, 77}}, {{"queue/a/size", 3}}});
  }
  StageStats stage{.name = "range|map|batch", .units = 10, .elements = 320};
  stage.operators = {{.op = "range", .ns = 1000}, {.op = "map <&>", .ns = 9000}};
  stage.totals.make.wall_ns = 5e9;
  PipelineRecord pipeline{.seconds = 10, .plan = "range(9)\nmap(\"<x>\")"};
  pipeline.loader.threads = 2;
  pipeline.loader.stages = {stage};
  pipeline.verdict = {.code = ReasonCode::cpu_bound, .stage = stage.name, .op = "map <&>", .wait_share = 0.5};
  pipeline.verdict.waits.sustained = 0.5;
  pipeline.verdict.changes = {{"one processor more", "threads", "3", 1.5, 1.4, 1.6}};
  pipeline.verdict.evidence = {{"share of its time that the stage computes", 0.9, 0.8}};
  run.pipelines = {pipeline};
  return run;
}

TEST(RunReport, NamesTheReasonTheStageAndTheChange) {
  const std::string html = report_html(run_of(20));
  for (const char* const part :
       {"Why: <b>cpu_bound: ", "Where: <b>map &lt;&amp;&gt;</b>, which takes most of the stage <b>range|map|batch</b>",
        "one processor more (threads = 3)</b>: <b>1.50 times as fast</b>", "waiting: sustained: 50.0 %", "— limits",
        "<td class=\"n\">0.900</td><td>above 0.8</td>", "0.45 threads at once", "range(9)", "prefers-color-scheme:dark",
        "@media print", "queue/a/size"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

TEST(RunReport, BeginsWithWhatToChangeAndWhatItGains) {
  RunRecord run = run_of(3);
  run.pipelines[0].verdict.changes.push_back({"a cache", "", "", 1.2, 1.1, 1.3});
  const std::string html = report_html(run);
  const size_t change = html.find("What to change: <b>one processor more"), other = html.find("Or: <b>a cache"),
               why = html.find("Why: ");
  EXPECT_LT(html.find("<body>"), change);
  EXPECT_LT(change, other);
  EXPECT_LT(other, why);
  EXPECT_LT(why, html.find("<svg"));
}

TEST(RunReport, WithoutAReasonItSaysWhatIsKnownAndIsSureOfNothing) {
  RunRecord run = run_of(3);
  run.pipelines[0].verdict = {.code = ReasonCode::none, .confidence = 1, .wait_share = 0.6};
  run.pipelines[0].verdict.evidence = {{"tasks at once in range", 0.7, 0}};
  run.pipelines[0].verdict.findings = {"a finding", "and where it waits"};
  const std::string html = report_html(run);
  for (const char* const part : {"class=\"verdict open\"", "<p>A finding.</p>", "<p>And where it waits.</p>",
                                 "waiting 60.0 %", "<td class=\"n\">0.700</td><td></td>"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("confidence")));
  run.pipelines[0].verdict.code = ReasonCode::machine_busy;
  EXPECT_THAT(report_html(run), HasSubstr("confidence 1.00, high")) << "control";
}

TEST(RunReport, OfSeveralOperatorsOfAKindMarksTheOneThatLimits) {
  RunRecord run = run_of(3);
  std::vector<OperatorCost>& operators = run.pipelines[0].loader.stages.at(0).operators;
  operators.push_back(operators.at(1));
  const auto marks = [&] {
    const std::string html = report_html(run);
    int count = 0;
    for (size_t at = html.find("— limits"); at != std::string::npos; at = html.find("— limits", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(marks(), 2) << "control: no title tells them apart";
  operators[1].title = "map(decode)";
  operators[2].title = "map(augment)";
  run.pipelines[0].verdict.op_title = "map(augment)";
  EXPECT_EQ(marks(), 1);
  const std::string html = report_html(run);
  EXPECT_THAT(html, HasSubstr("Where: <b>map(augment)</b>, which takes most of the stage <b>range|map|batch</b>"));
  EXPECT_THAT(html, HasSubstr(">map(decode)</text>"));
  EXPECT_THAT(html, HasSubstr("<td>map(decode)</td>"));
}

TEST(RunReport, AQueueIsAllOfThePlace) {
  RunRecord run = run_of(3);
  run.pipelines[0].verdict.stage = "digits";
  run.pipelines[0].verdict.op = "";
  EXPECT_THAT(report_html(run), HasSubstr("<p>Where: <b>digits</b></p>"));
}

TEST(RunReport, TellsWhoHeldTheMemoryWhenItWasMost) {
  RunRecord run = run_of(3);
  EXPECT_THAT(report_html(run), Not(HasSubstr("Who holds the memory"))) << "nobody looked";
  run.machine.idle_pss = 10'000'000;
  run.points[1].pss = 60'000'000;
  run.points[1].memory = {{"map <&>", 40'000'000}, {"outside", 10'000'000}};
  run.points[2].pss = 20'000'000;
  run.points[2].memory = {{"batch", 9'000'000}};
  run.pipelines[0].loader.memory = {{"range", "range|map|batch", 0, 0}, {"map <&>", "range|map|batch", 5, 33'000'000}};
  run.pipelines[0].loader.stages.at(0).operators.at(1).read_bytes = 1;
  run.pipelines[0].loader.stages.at(0).totals.read_bytes = 55'000'000;
  const std::string html = report_html(run);
  for (const char* const part : {"Who holds the memory", "After 1 s the process took 50.0 MB more",
                                 "<td>map &lt;&amp;&gt;</td><td class=\"n\">40.0 MB</td><td class=\"n\">80.0 %</td>",
                                 "33.0 MB</td><td class=\"n\">55.0 MB</td>"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("9.0 MB")));
  EXPECT_THAT(html, Not(HasSubstr("negative here"))) << "control";
  run.points[1].memory.back().bytes = -10'000'000;
  EXPECT_THAT(report_html(run), HasSubstr("outside; negative here: blocks that are not written yet, or counted twice"));
}

TEST(RunReport, SaysHowMuchMemoryElementsMayTake) {
  RunRecord run = run_of(3);
  run.pipelines[0].loader.memory_peak = 7'000'000;
  EXPECT_THAT(report_html(run), HasSubstr("Elements took 7.0 MB at most, 0.0 kB at the end.")) << "an old record";
  run.pipelines[0].loader.memory_limit = 8'000'000;
  EXPECT_THAT(report_html(run), HasSubstr("0.0 kB at the end; they may take 8.0 MB (memory)."));
}

TEST(RunReport, ThePlanHasOperatorsWithoutASampleToo) {
  RunRecord run = run_of(3);
  EXPECT_THAT(report_html(run), Not(HasSubstr("not measured by itself")));
  run.pipelines[0].loader.memory = {
      {"range", "range|map|batch", 0, 0}, {"map <&>", "range|map|batch", 0, 0}, {"batch", "range|map|batch", 0, 4096}};
  const std::string html = report_html(run);
  EXPECT_THAT(html, HasSubstr(">batch</text>\n<text x=\"14\" y=\"145\">not measured by itself</text>"));
  EXPECT_THAT(html, HasSubstr("<td>batch</td><td>range|map|batch</td><td colspan=\"5\">not measured by itself</td>"));
}

TEST(RunReport, SaysHowMuchMemoryAChangeAsksFor) {
  RunRecord run = run_of(3);
  run.pipelines[0].verdict.changes = {{"allow more memory", "memory", "41943040", 1.3, 1.2, 1.3}};
  EXPECT_THAT(report_html(run), HasSubstr("allow more memory (memory = 41943040: 41.9 MB)</b>"));
}

TEST(RunReport, OfAProgramThatHardlyWaitsNothingIsToBeChanged) {
  RunRecord run = run_of(3);
  const char* const nothing = "What to change: <b>nothing in the input</b>";
  EXPECT_THAT(report_html(run), Not(HasSubstr(nothing))) << "control";
  EXPECT_THAT(report_html(run), HasSubstr("<title>Headpond: cpu_bound, a run of 2026-05-01"));
  run.pipelines[0].verdict = {.code = ReasonCode::device_bound};
  const std::string html = report_html(run);
  for (const char* const part : {nothing, "<h2>The program hardly waits</h2>", "<title>Headpond: device_bound, "}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

// Its share would be of too short a time, and large charts have no powers of ten.
TEST(RunReport, TheEndJustAfterASampleIsNoMomentOfItsOwn) {
  RunRecord run = run_of(6);
  for (RunPoint& point : run.points) point.queues[0].value = 1'193.6;
  run.points[5].pipelines[0].wait_share = 0;
  const std::string with_end = report_html(run);
  EXPECT_THAT(with_end, HasSubstr("waiting: at most 50 %, at the end 0 %")) << "control";
  EXPECT_THAT(with_end, HasSubstr("queue/a/size: at most 1194, at the end 1194"));
  run.points[5].seconds = 4.1;
  EXPECT_THAT(report_html(run), HasSubstr("waiting: at most 50 %, at the end 50 %"));
}

TEST(RunReport, TellsWhatThreadsTook) {
  RunRecord run = run_of(3);
  EXPECT_THAT(report_html(run), Not(HasSubstr("threads named")));
  run.points.back().threads = {{"headpond/", 2, 1.5, 7}};
  run.points[1].stolen_cpus = 0.25;
  StageStats& stage = run.pipelines[0].loader.stages.at(0);
  stage.totals.starved_ns = 2e9;
  stage.starved_p50_ns = 3'000'000;
  stage.starved_p99_ns = 40'000'000;
  const std::string html = report_html(run);
  for (const char* const part :
       {"<td>headpond/</td><td class=\"n\">2</td><td class=\"n\">1.50 s</td><td class=\"n\">0.75</td><td "
        "class=\"n\">7</td>",
        "2.00 s (3.00 ms, 40.00 ms)", "processors taken by the host: at most 0.25"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("control group"))) << "it refused nothing";
}

TEST(RunReport, HasWhatQueuesCounted) {
  RunRecord run = run_of(3);
  EXPECT_THAT(report_html(run), Not(HasSubstr("most inside"))) << "there is none";
  run.points[0].hand_offs = {{"shuffle", {.capacity = 8, .min_after_dequeue = 3, .size_peak = 5}}};
  run.points[1].hand_offs = {{"shuffle",
                              {.capacity = 8,
                               .min_after_dequeue = 3,
                               .size_peak = 7,
                               .bytes_peak = 14'000,
                               .put_size_mean = 6.5,
                               .take_size_mean = 0.2,
                               .starved_ns = 2'000'000'000,
                               .starved_p50_ns = 3'000'000,
                               .starved_p99_ns = 40'000'000}}};
  EXPECT_THAT(report_html(run), HasSubstr("<td>shuffle</td><td class=\"n\">8</td><td class=\"n\">3</td><td "
                                          "class=\"n\">7</td><td class=\"n\">6.5</td><td "
                                          "class=\"n\">0.2</td>"));
  EXPECT_THAT(report_html(run), HasSubstr("2.00 s (3.00 ms, 40.00 ms)"));
}

TEST(RunReport, AChartOfNothingIsOfNothing) {
  RunRecord run = run_of(3);
  for (RunPoint& point : run.points) point.pipelines[0].ready = 0;
  EXPECT_THAT(report_html(run), HasSubstr("ready batches: at most 0, at the end 0"));
}

TEST(RunReport, NeedsNothingButItself) {
  const std::string html = report_html(run_of(20));
  for (const char* const part : {"<script", "http:", "https:", "url(", "<link", "<img", "@import", "map <&>"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
}

TEST(RunReport, OnlyTheOperatorThatTakesMostIsMarked) {
  const std::string html = report_html(run_of(3));
  EXPECT_EQ(html.find("stroke=\"var(--mark)\""), html.rfind("stroke=\"var(--mark)\""));
  RunRecord fine = run_of(3);
  fine.pipelines[0].verdict = {.code = ReasonCode::device_bound};
  EXPECT_THAT(report_html(fine), Not(HasSubstr("stroke=\"var(--mark)\"")));
  EXPECT_THAT(report_html(fine), HasSubstr("class=\"verdict fine\""));
}

TEST(RunReport, ALongRunIsNoLargerPage) {
  RunRecord run = run_of(2'000);
  for (RunPoint& point : run.points) {
    for (int i = 0; i < 30; ++i) point.queues.push_back({"queue/" + std::to_string(i) + "/size", 1});
  }
  EXPECT_LT(report_html(run).size(), 500'000U);
}

TEST(RunReport, ARunOfNothingIsAPageToo) {
  const std::string html = report_html({});
  EXPECT_THAT(html, HasSubstr("it did not end by itself"));
  EXPECT_THAT(html, testing::EndsWith("</html>\n"));
}

}  // namespace
}  // namespace headpond
