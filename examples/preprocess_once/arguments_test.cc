// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace preprocess_once {
namespace {

using testing::HasSubstr;

hp::Result<Arguments> parsed(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return parse_arguments(pointers);
}

TEST(Arguments, AreThoseOfTheOptions) {
  const auto all = parsed({"--data", "a[1]", "--images", "5", "--rounds", "2", "--json", "--check"});
  ASSERT_TRUE(all) << all.error();
  EXPECT_EQ(all->options.data, "a[1]");
  EXPECT_EQ(all->options.images, 5);
  EXPECT_EQ(all->options.rounds, 2);
  EXPECT_TRUE(all->json && all->check && !all->help);
  const auto none = parsed({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->options.images, -1);
  EXPECT_EQ(none->options.rounds, 3);
  EXPECT_FALSE(none->json || none->check || none->help);
  EXPECT_TRUE(parsed({"--help"}).value_or(Arguments()).help);
}

TEST(Arguments, ThatCannotBeAreRefusedWithTheWord) {
  for (const char* value : {"-5", "0", "abc", "5x", "", " 5", "5.0", "99999999999999999999"}) {
    for (const char* flag : {"--rounds", "--images"}) {
      const auto refused = parsed({flag, value});
      ASSERT_FALSE(refused) << flag << " " << value;
      EXPECT_EQ(refused.error().kind(), hp::ErrorKind::InvalidArgument);
      EXPECT_THAT(refused.error().message(), HasSubstr(std::string(flag) + " " + value + ": a whole number"));
    }
  }
  EXPECT_FALSE(parsed({"--data", ""}));
  for (const char* flag : {"--data", "--images", "--rounds"}) EXPECT_FALSE(parsed({flag})) << flag;
  for (const char* word : {"--jsn", "pictures", ""}) EXPECT_FALSE(parsed({word})) << word;
}

}  // namespace
}  // namespace preprocess_once
