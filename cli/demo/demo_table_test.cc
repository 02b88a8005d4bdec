// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond::cli {
namespace {

using testing::HasSubstr;

std::vector<DemoRow> rows() {
  return {{.id = "a",
           .what = "saved",
           .article = {36.8, "%", "a queue of 4"},
           .flaw = "draws twice",
           .ours = {17.0, "%", "one core"},
           .ceiling = 17.5,
           .limited_by = "training"},
          {.id = "b",
           .what = "rate",
           .article = {{}, "it/s", "not reported"},
           .flaw = "",
           .ours = {320.0, "it/s", ""},
           .ceiling = 321,
           .limited_by = "training"}};
}

TEST(DemoTable, ShowsArticleFlawOursCeilingAndLimit) {
  const std::string text = format_demo(rows());
  for (const char* part :
       {"36.8 %", "draws twice", "17.0 %", "17.5 %", "one core", "training", "not reported", "320.0"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(DemoTable, HasOneLineOfFiguresAndOneParagraphForEachRow) {
  EXPECT_EQ(format_demo(rows()),
            "          article        here     ceiling\n"
            "--------  -------  ----------  ----------\n"
            "1. saved   36.8 %      17.0 %      17.5 %\n"
            "2. rate         -  320.0 it/s  321.0 it/s\n"
            "\n1. saved\n"
            "   here:       one core\n"
            "   limited by: training\n"
            "   article:    a queue of 4; draws twice\n"
            "\n2. rate\n"
            "   limited by: training\n"
            "   article:    not reported\n");
}

TEST(DemoTable, IsNotWiderThanATerminalOf80Columns) {
  const std::string text = format_demo(rows());
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 80U);
  }
}

TEST(DemoTable, JsonHasNullForWhatTheArticleDoesNotReport) {
  JsonWriter json;
  json.begin_object();
  write_demo(json, rows());
  json.end_object();
  EXPECT_THAT(
      std::string(json.text()),
      HasSubstr(R"("article":{"value":36.8,"unit":"%","conditions":"a queue of 4","flaw":"draws twice"},)"
                R"("ours":{"value":17,"unit":"%","conditions":"one core"},"limited_by":"training","ceiling":17.5})"));
  EXPECT_THAT(std::string(json.text()), HasSubstr(R"("id":"b","what":"rate","article":{"value":null)"));
}

}  // namespace
}  // namespace headpond::cli
