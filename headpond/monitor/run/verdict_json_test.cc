// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/verdict_json.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

std::string json_of(const Verdict& verdict) {
  JsonWriter json;
  json.begin_object();
  write_verdict(json, verdict);
  return std::string(json.end_object().text());
}

TEST(VerdictJson, TheBestChangeIsThatOfTheForecast) {
  Verdict verdict{.code = ReasonCode::latency_bound, .stage = "read|batch", .op = "read", .confidence = 0.5};
  verdict.changes = {{"more at once", "io_threads", "8", 3, 2, 4}, {"less", "", "", 1.5, 1, 2}};
  const std::string text = json_of(verdict);
  EXPECT_THAT(text, testing::HasSubstr(R"("reason_code":"latency_bound","stage":"read|batch","op":"read")"));
  EXPECT_THAT(text, testing::StartsWith(R"({"verdict":"latency_bound: )"));
  EXPECT_THAT(text, testing::HasSubstr(R"("change":{"what":"more at once","setting":"io_threads","value":"8","gain":3,)"
                                       R"("low":2,"high":4},"forecast_gain":3)"));
}

TEST(VerdictJson, WithoutAChangeThereIsNone) {
  EXPECT_THAT(json_of({.code = ReasonCode::device_bound}),
              testing::HasSubstr(R"("changes":[],"findings":[],"change":null,"forecast_gain":null)"));
}

}  // namespace
}  // namespace headpond
