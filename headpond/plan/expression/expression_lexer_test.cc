// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression_lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/base/status.h"

namespace headpond::plan {
namespace {

// Kind, column and text of each token.
std::string tokens(std::string_view text) {
  std::string all;
  try {
    Lexer lexer(text);
    for (; lexer.token().kind != Token::end; lexer.next()) {
      const Token& token = lexer.token();
      fmt::format_to(std::back_inserter(all), "{}{}:{} ", "ifns"[token.kind], token.column, token.text);
    }
    return all + fmt::format("end{}", lexer.token().column);
  } catch (const Exception& error) {
    return all + error.error().message();
  }
}

TEST(Lexer, FindsNumbersNamesAndSymbols) {
  EXPECT_EQ(tokens(""), "end1");
  EXPECT_EQ(tokens(" a<=12\t|| b.c_2"), "n2:a s3:<= i5:12 s8:|| n11:b.c_2 end16");
  EXPECT_EQ(tokens("1.5e-3-2"), "f1:1.5e-3 s7:- i8:2 end9");
  EXPECT_EQ(tokens("1.+.5"), "f1:1. s3:+ f4:.5 end6");
  EXPECT_EQ(tokens("a!=!b"), "n1:a s2:!= s4:! n5:b end6");
  EXPECT_EQ(tokens("0 00"), "i1:0 '0 00', column 3: '00' is not a number");
}

TEST(Lexer, NamesInBackQuotesMayHaveAnyCharacter) {
  EXPECT_EQ(tokens("`a/b` + `größe 2`*c"), "n1:a/b s7:+ n9:größe 2 s20:* n21:c end22");
  EXPECT_EQ(tokens("a `b"), "n1:a 'a `b', column 3: the name that begins here has no second `");
  EXPECT_EQ(tokens("``"), "'``', column 1: the name between the back quotes is empty");
}

TEST(Lexer, RefusesWhatIsNoToken) {
  EXPECT_EQ(tokens("a $"), "n1:a 'a $', column 3: '$' has no meaning here");
  EXPECT_EQ(tokens("."), "'.', column 1: '.' is not a number");
  EXPECT_EQ(tokens("a | b"), "n1:a 'a | b', column 3: '|' has no meaning here");
  EXPECT_EQ(tokens(std::string_view("a\0", 2)).substr(0, 4), "n1:a");
  EXPECT_TRUE(tokens(std::string(70, '(') + "?")
                  .ends_with("s70:( '" + std::string(60, '(') + "...', column 71: '?' has no meaning here"))
      << "long texts are cut";
}

}  // namespace
}  // namespace headpond::plan
