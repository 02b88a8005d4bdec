// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/dataset/ops/files.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each source of files takes a list of literals.
static_assert(requires {
  tfrecord({"a", "b"});
  text_lines({"a", "b"});
  csv({"a", "b"}, {.header = false});
  npy({"a", "b"});
  fixed_length({"a", "b"}, {.record_bytes = 1});
  tar({"a", "b"});
});

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
