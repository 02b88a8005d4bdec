// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "headpond/io/text/csv_rows_internal.h"

namespace headpond::internal {
namespace {

// Cells joined by '|' (quoted ones in [], doubled quotes in []*), rows by '/'; a fault with its offset at the end.
std::string rows_of(std::string_view text, char delimiter = ',', char quote = '"', char comment = 0) {
  CsvRows rows(delimiter, quote, comment);
  rows.begin(text, 0);
  std::string shown;
  while (rows.next_row()) {
    CsvCell cell;
    for (bool first = true; rows.next_cell(cell); first = false) {
      shown += first ? "" : "|";
      shown += cell.is_quoted ? "[" + std::string(cell.text) + (cell.has_doubled ? "]*" : "]") : std::string(cell.text);
    }
    if (rows.fault() != CsvFault::none) {
      return shown + (rows.fault() == CsvFault::open_quote ? " open at " : " after at ") +
             std::to_string(rows.offset());
    }
    shown += "/";
  }
  return shown;
}

TEST(CsvRows, SplitsRowsAtAnyLineEndAndCellsAtDelimiters) {
  EXPECT_EQ(rows_of("a,b\nc,d\r\ne,f\rg,h"), "a|b/c|d/e|f/g|h/");
  EXPECT_EQ(rows_of(",\n,,"), "|/||/");
  EXPECT_EQ(rows_of("a;b,c", ';'), "a|b,c/");
  EXPECT_EQ(rows_of(""), "");
}

TEST(CsvRows, PassesOverEmptyLinesAndComments) {
  EXPECT_EQ(rows_of("\n\r\n\ra\n\n\nb\n\n"), "a/b/");
  EXPECT_EQ(rows_of("#\"x\na,#b\n#c", ',', '"', '#'), "a|#b/");
  EXPECT_EQ(rows_of("#a"), "#a/");
}

TEST(CsvRows, QuotesHoldDelimitersLineEndsAndDoubledQuotes) {
  EXPECT_EQ(rows_of("\"a,b\",\"c\r\nd\re\"\n\"\"\"f\"\"\",\"\"\n"), "[a,b]|[c\r\nd\re]/[\"\"f\"\"]*|[]/");
  EXPECT_EQ(rows_of("'a,b',\"c\"", ',', '\''), "[a,b]|\"c\"/");
  EXPECT_EQ(rows_of("\"a,b\"", ',', 0), "\"a|b\"/");
}

TEST(CsvRows, AQuoteInsideACellIsAByteLikeAnyOther) { EXPECT_EQ(rows_of("a\"b\",c\" \n"), "a\"b\"|c\" /"); }

TEST(CsvRows, KeepsAnyOtherByte) {
  const std::string odd("\0\xff\x80 \t\v", 6);
  EXPECT_EQ(rows_of(odd + ',' + odd), odd + "|" + odd + "/");
}

TEST(CsvRows, NamesAnOpenQuoteByItsBegin) {
  EXPECT_EQ(rows_of("a,\"b\nc\n"), "a open at 2");
  EXPECT_EQ(rows_of("\""), " open at 0");
  EXPECT_EQ(rows_of("\"\"\""), " open at 0");
  EXPECT_EQ(rows_of("\"a\"\""), " open at 0");
}

TEST(CsvRows, NamesWhatFollowsAClosingQuote) {
  EXPECT_EQ(rows_of("a,\"b\"c,d"), "a after at 5");
  EXPECT_EQ(rows_of("\"b\" ,d"), " after at 3");
}

TEST(CsvRows, GoesToAnyRow) {
  CsvRows rows(',', '"', 0);
  const std::string text = "a\nb\nc";
  rows.begin(text, 4);
  CsvCell cell;
  ASSERT_TRUE(rows.next_row());
  EXPECT_EQ(rows.offset(), 4U);
  ASSERT_TRUE(rows.next_cell(cell));
  EXPECT_EQ(cell.text, "c");
  EXPECT_FALSE(rows.next_cell(cell));
  EXPECT_FALSE(rows.next_row());
}

}  // namespace
}  // namespace headpond::internal
