// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "headpond/io/text/csv_columns_internal.h"

namespace headpond::internal {
namespace {

DType guess(const std::vector<std::string>& cells) {
  CsvGuess guess;
  for (const std::string& cell : cells) guess.see(cell, cell.empty());
  return guess.dtype();
}

TEST(CsvGuess, IntegersThatAreAllThereAreI64) {
  EXPECT_EQ(guess({"1", "-9223372036854775808", "+7"}), i64);
  EXPECT_EQ(guess({"1", "", "16777216"}), f32);
}

TEST(CsvGuess, NumbersAreF32UnlessThatWouldLoseThem) {
  EXPECT_EQ(guess({"1", "0.5", "nan", "inf"}), f32);
  EXPECT_EQ(guess({"41.836150155"}), f32) << "a fraction may be rounded";
  EXPECT_EQ(guess({"17031081500", ""}), f64) << "a whole number may not";
  EXPECT_EQ(guess({"-16777217", "0.5"}), f64);
  EXPECT_EQ(guess({"17031081500.0", ""}), f64) << "however it is written";
  EXPECT_EQ(guess({"-1.7e10"}), f64);
  EXPECT_EQ(guess({"1e39"}), f64);
  EXPECT_EQ(guess({"1e-50"}), f64) << "0 as f32";
  EXPECT_EQ(guess({"16777216.0", "1e-40", "0.0", "-inf"}), f32);
}

TEST(CsvGuess, EverythingElseIsBytes) {
  EXPECT_EQ(guess({"1", "x"}), bytes);
  EXPECT_EQ(guess({"x", "1"}), bytes);
  EXPECT_EQ(guess({"9223372036854775808"}), bytes) << "a name rather than a quantity";
  EXPECT_EQ(guess({"1e400"}), bytes);
  EXPECT_EQ(guess({"true"}), bytes);
  EXPECT_EQ(guess({}), bytes);
}

TEST(CsvGuess, AMissingCellIsNanOrEmpty) {
  CsvGuess numbers, texts, none, whole;
  for (CsvGuess* one : {&numbers, &texts, &none}) one->see("", true);
  numbers.see("1", false);
  texts.see("x", false);
  whole.see("1", false);
  EXPECT_TRUE(std::isnan(numbers.default_value()->as<float>()[0]));
  EXPECT_EQ(texts.default_value()->bytes_at(0), "");
  EXPECT_EQ(none.dtype(), f32);
  EXPECT_FALSE(whole.default_value());
}

TEST(CsvText, MakesDoubledQuotesOne) {
  EXPECT_EQ(csv_text({.text = "a\"\"b\"\"\"\"", .is_quoted = true, .has_doubled = true}, '"'), "a\"b\"\"");
  EXPECT_EQ(csv_text({.text = "a\"b"}, '"'), "a\"b");
}

}  // namespace
}  // namespace headpond::internal
