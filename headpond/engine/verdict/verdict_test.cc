// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/verdict/verdict.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace headpond {
namespace {

using testing::HasSubstr;

Verdict full() {
  Verdict verdict{.code = ReasonCode::latency_bound, .stage = "read|batch", .op = "read", .confidence = 1};
  verdict.wait_share = 0.75;
  for (int i = 0; i < 9; ++i) {
    verdict.evidence.push_back({"figure", 1, 2});
    verdict.changes.push_back({"let more calls wait at once", "io_threads", "9", 4, 3.4, 4});
    verdict.findings.emplace_back("a finding");
  }
  return verdict;
}

TEST(Verdict, HasAtMostEightLines) {
  const std::string text = full().to_string();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 8);
  EXPECT_THAT(text, HasSubstr("latency_bound: each call waits for an answer"));
  EXPECT_THAT(text, HasSubstr("waiting: 75.0 %"));
  EXPECT_THAT(text, HasSubstr("let more calls wait at once (io_threads = 9): 4.00 times as fast (3.40 to 4.00)"));
}

TEST(Verdict, SaysHowSureItIs) {
  Verdict verdict = full();
  EXPECT_THAT(verdict.to_string(), Not(HasSubstr("confidence")));
  verdict.confidence = 0.6;
  EXPECT_THAT(verdict.to_string(), HasSubstr("medium confidence"));
  verdict.confidence = 0.4;
  EXPECT_THAT(verdict.to_string(), HasSubstr("unclear, most likely"));
}

TEST(Verdict, OfNoReasonNobodyIsSure) {
  Verdict none{.confidence = 0.3};
  none.findings = {"the first finding", "the second one"};
  const std::string text = none.to_string();
  EXPECT_TRUE(text.starts_with("none: no reason found\n")) << text;
  EXPECT_THAT(text, HasSubstr("  the first finding\n  the second one\n"));
}

TEST(Verdict, BeginsWithTooLittleWasSeen) {
  Verdict none;
  none.findings = {"too little was seen: 3 steps in 0.1 s after the start; 20 steps and 2 s are needed", "another"};
  const std::string text = none.to_string();
  EXPECT_TRUE(text.starts_with("none: too little was seen: 3 steps in 0.1 s")) << text;
  EXPECT_THAT(text, Not(HasSubstr("no reason found")));
  EXPECT_EQ(text.find("too little"), text.rfind("too little")) << "once:\n" << text;
  EXPECT_THAT(text, HasSubstr("\n  another\n"));
}

TEST(Verdict, SaysOnWhichSideOfItsThresholdAFigureIs) {
  Verdict verdict{.code = ReasonCode::machine_busy};
  verdict.evidence = {{"others", 0.34, 0.1}, {"idle", 0.01, 0.05}};
  EXPECT_THAT(verdict.to_string(), HasSubstr("  others: 0.34, above 0.1\n  idle: 0.01, below 0.05\n"));
  verdict.evidence = {{"files", 1, 0}};
  EXPECT_THAT(verdict.to_string(), HasSubstr("  files: 1.00\n"));
  EXPECT_EQ((Evidence{"steps", 20, 20}).limit(), "exactly 20");
}

TEST(Verdict, AQueueHasNoOperator) {
  Verdict verdict = full();
  verdict.op = "";
  EXPECT_THAT(verdict.to_string(), HasSubstr("  stage: read|batch\n"));
  EXPECT_THAT(full().to_string(), HasSubstr("  stage: read|batch; operator: read\n"));
}

TEST(Verdict, EachCodeHasItsOwnNameAndWords) {
  std::set<std::string> names, texts;
  const auto last = static_cast<int>(ReasonCode::cpu_bound);
  for (int i = 0; i <= last; ++i) {
    const auto code = static_cast<ReasonCode>(i);
    names.emplace(to_string(code));
    texts.insert(Verdict{.code = code}.to_string());
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(last) + 1);
  EXPECT_EQ(texts.size(), names.size());
  EXPECT_FALSE(names.contains(""));
}

TEST(Verdict, IsPrintedAsItsText) {
  std::ostringstream out;
  out << full();
  EXPECT_EQ(out.str(), full().to_string());
}

}  // namespace
}  // namespace headpond
