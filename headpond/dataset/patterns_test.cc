// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> given(const Patterns& patterns) { return patterns.all(); }

TEST(Patterns, AreOneNameOrAList) {
  const std::string name = "a";
  const std::vector<std::string> list = {"a", "b"};
  EXPECT_THAT(given("a"), ElementsAre("a"));
  EXPECT_THAT(given(name), ElementsAre("a"));
  EXPECT_THAT(given(std::filesystem::path("a")), ElementsAre("a"));
  EXPECT_THAT(given(list), ElementsAre("a", "b"));
  EXPECT_THAT(given({"a"}), ElementsAre("a"));
  EXPECT_THAT(given({"a", "b"}), ElementsAre("a", "b")) << "not the characters between two addresses";
  EXPECT_THAT(given({"a", name, "c"}), ElementsAre("a", "a", "c"));
  EXPECT_THAT(given({}), IsEmpty());
}

}  // namespace
}  // namespace headpond
