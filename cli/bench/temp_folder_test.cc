// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/temp_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "headpond/base/status.h"
#include "tests/test_files.h"

namespace headpond::cli {
namespace {

TEST(TempFolder, IsRemovedAtItsEnd) {
  const test::TempFolder parent;
  std::optional<TempFolder> one(std::in_place, "x", parent.path()), other(std::in_place, "x", parent.path());
  EXPECT_NE(one->path, other->path);
  test::put_file(one->path + "/file", test::to_bytes("x"));
  EXPECT_EQ(parent.count(), 2U);
  one.reset();
  other.reset();
  EXPECT_EQ(parent.count(), 0U);
  EXPECT_THROW(TempFolder("x", parent.file("none")), Exception);
}

TEST(TempFolder, RemovesWhatAKilledProgramLeft) {
  const test::TempFolder parent;
  const TempFolder of_another("x", parent.path());
  test::put_file(of_another.path + "/file", test::to_bytes("x"));
  const std::string left = parent.file("headpond-bench-x-abcdef"), other = parent.file("headpond-bench-y-abcdef");
  std::filesystem::create_directories(left + "/inner");
  std::filesystem::create_directories(other);
  const TempFolder now("x", parent.path());
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(other)) << "another bench's";
  EXPECT_TRUE(std::filesystem::exists(of_another.path + "/file")) << "that program runs";
}

}  // namespace
}  // namespace headpond::cli
