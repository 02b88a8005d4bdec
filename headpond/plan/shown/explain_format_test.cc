// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/shown/explain_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/dataset/ops.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;
using testing::Not;

ExplainReport report() {
  const Dataset one = range(10) | map([](int64_t x) { return x < 3; }, {.name = "x < \"3\""});
  const Dataset dataset = concatenate({one, one}) | batch(4, {.drop_remainder = true});
  return {"a<b.toml", dataset, explain(dataset)};
}

// As a Loader has it: from the program to the sources.
Analysis analysis() {
  StageStats below{.name = "range|map", .operators = {{"range", 20}, {"map", 1500}}};
  return {2, 7, {.wait_ns = 1'000'000'000, .stages = {{.name = "map"}, below}}};
}

TEST(ExplainFormat, AnalysisHasWhatEachOperatorCostsInTheOrderOfThePlan) {
  ExplainReport with = report();
  with.analysis = analysis();
  for (const std::string& text : {explain_text(with), explain_html(with)}) {
    EXPECT_THAT(text, HasSubstr("    range: 0.02 us\n    map: 1.50 us\n  map: 0 elements"));
  }
}

TEST(ExplainFormat, SaysWhatARestoreCannotCheck) {
  const Dataset dataset = range(3) | map([](int64_t x) { return x; });
  const ExplainReport unnamed{"f", dataset, explain(dataset)};
  JsonWriter json;
  json.begin_object();
  write_explanation(json, unnamed);
  json.end_object();
  EXPECT_THAT(json.take(), HasSubstr(R"x("restore":[{"what":"map(opaque)","why":"a restore cannot tell)x"));
  EXPECT_THAT(explain_html(unnamed), HasSubstr("<h2>On restore</h2>"));
}

TEST(ExplainFormat, TextSaysHowItIsRunAndWhatIsExpected) {
  const std::string text = explain_text(report());
  EXPECT_THAT(text, HasSubstr("concatenate(inputs=2)"));
  EXPECT_THAT(text, HasSubstr("an element: {0: bool[4]}\nelements in an epoch: 5\n"));
  ExplainReport endless{"f", range(3) | repeat(), explain(range(3) | repeat())};
  EXPECT_THAT(explain_text(endless), HasSubstr("elements in an epoch: no end\n"));
}

TEST(ExplainFormat, JsonHasTheAgreedMembers) {
  JsonWriter json;
  json.begin_object();
  ExplainReport with = report();
  with.analysis = analysis();
  write_explanation(json, with);
  json.end_object();
  const std::string text = json.take();
  EXPECT_THAT(text, HasSubstr(R"({"plan":"  range(start=0, stop=10, step=1)\n)"));
  EXPECT_THAT(text, HasSubstr(R"("levels":[{"how":)"));
  EXPECT_THAT(text, HasSubstr(R"("rewrites":[)"));
  EXPECT_THAT(text,
              HasSubstr(R"("estimates":{"spec":"{0: bool[4]}","cardinality":5,"endless":false,"element_bytes":4})"));
  EXPECT_THAT(text, HasSubstr(R"("analysis":{"seconds":2,"elements":7,"wait_share":0.5,)"));
  EXPECT_THAT(text, HasSubstr(R"("stages":[{"name":"range|map",)"));
  EXPECT_THAT(text, HasSubstr(R"("operators":[{"op":"range","ns":20},{"op":"map","ns":1500}]},{"name":"map",)"));
  EXPECT_THAT(text, HasSubstr(R"("restore":[])"));
}

TEST(ExplainFormat, GraphsHaveEachOperatorOnceAndEscapeTexts) {
  const std::string dot = explain_dot(report());
  EXPECT_THAT(dot, HasSubstr("n1 [label=\"map\\nx < \\\"3\\\", version=0\"];"));
  EXPECT_THAT(dot, HasSubstr("n1 -> n2 [label=\"{0: bool[]}\"];\n  n1 -> n2 "));
  EXPECT_THAT(dot, Not(HasSubstr("n4")));
  const std::string mermaid = explain_mermaid(report());
  EXPECT_THAT(mermaid, HasSubstr("n1[\"map(x < #quot;3#quot;, version=0)\"]"));
  EXPECT_THAT(mermaid, HasSubstr("n2 -->|\"{0: bool[]}\"| n3\n"));
}

TEST(ExplainFormat, ThePageEscapesTexts) {
  ExplainReport with = report();
  with.analysis = Analysis{};
  const std::string html = explain_html(with);
  EXPECT_THAT(html, HasSubstr("<title>a&lt;b.toml</title>"));
  EXPECT_THAT(html, HasSubstr("x &lt; &quot;3&quot;"));
  EXPECT_THAT(html, HasSubstr("<h2>Analysis</h2>"));
  EXPECT_THAT(html, testing::EndsWith("</html>\n"));
  with.file = "";
  EXPECT_THAT(explain_html(with), HasSubstr("<h1>Pipeline</h1>"));
}

TEST(ExplainFormat, AFragmentIsThePageWithoutWhatIsForAWholePage) {
  const std::string fragment = explain_fragment(report());
  EXPECT_THAT(fragment, testing::StartsWith("<div class=\"headpond-plan\">\n"));
  EXPECT_THAT(fragment, testing::EndsWith("</div>\n"));
  for (const char* whole : {"<html", "<head", "<title", "<body", "body {"})
    EXPECT_THAT(fragment, Not(HasSubstr(whole)));
  EXPECT_THAT(explain_html(report()), HasSubstr(fragment));
}

}  // namespace
}  // namespace headpond::plan
