// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace headpond::cli {
namespace {

TEST(TextTable, AlignsColumnsToTheirLongestCell) {
  EXPECT_EQ(format_table({{.head = "mode"}, {.head = "s", .right = true}}, {{"feed", "1.82"}, {"queue", "12.5"}}),
            "mode      s\n"
            "-----  ----\n"
            "feed   1.82\n"
            "queue  12.5\n");
}

TEST(TextTable, ContinuesLongCellsBelowBetweenWords) {
  EXPECT_EQ(format_table({{.head = "a"}, {.head = "b", .width = 9}}, {{"1", "no more to hide here"}}),
            "a  b\n"
            "-  -------\n"
            "1  no more\n"
            "   to hide\n"
            "   here\n");
}

TEST(TextTable, KeepsAWordThatIsWiderThanItsColumnWhole) {
  EXPECT_EQ(format_table({{.head = "b", .width = 4}}, {{"a RandomShuffleQueue"}}),
            "b\n"
            "------------------\n"
            "a\n"
            "RandomShuffleQueue\n");
}

TEST(TextTable, FillsShortRowsAndSpacesRowsIfAsked) {
  EXPECT_EQ(format_table({{.head = "a"}, {.head = "b"}}, {{"1"}, {"2", "3"}}, true),
            "a  b\n"
            "-  -\n"
            "1\n"
            "\n"
            "2  3\n");
}

TEST(TextTable, WithoutRowsIsItsHead) { EXPECT_EQ(format_table({{.head = "a"}}, {}), "a\n-\n"); }

}  // namespace
}  // namespace headpond::cli
