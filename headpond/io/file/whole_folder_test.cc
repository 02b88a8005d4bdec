// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/whole_folder.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "headpond/io/file/file.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

Result<void> filled(const std::string& folder, const std::string& text) {
  HEADPOND_TRY(make_folders(folder));
  test::put_file(folder + "/file", test::to_bytes(text));
  return {};
}

TEST(WholeFolder, IsMadeOnce) {
  const test::TempFolder temp;
  int made = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(make_whole_folder(temp.file("a"), [&](const std::string& folder) {
      ++made;
      EXPECT_NE(folder, temp.file("a"));
      return filled(folder, "first");
    }));
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(test::get_file(temp.file("a/file")), test::to_bytes("first"));
  EXPECT_EQ(temp.count(), 1U);
}

TEST(WholeFolder, OfTwoAtOnceTheFirstStays) {
  const test::TempFolder temp;
  EXPECT_TRUE(make_whole_folder(temp.file("a"), [&](const std::string& slow) {
    EXPECT_TRUE(make_whole_folder(temp.file("a"), [](const std::string& fast) { return filled(fast, "fast"); }));
    return filled(slow, "slow");
  }));
  EXPECT_EQ(test::get_file(temp.file("a/file")), test::to_bytes("fast"));
  EXPECT_EQ(temp.count(), 1U);
}

TEST(WholeFolder, AfterAnErrorNothingIsLeft) {
  const test::TempFolder temp;
  const auto failed = make_whole_folder(temp.file("a"), [](const std::string& folder) -> Result<void> {
    HEADPOND_TRY(filled(folder, "half"));
    return fail(ErrorKind::DataLoss, "no more");
  });
  EXPECT_EQ(failed.error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(temp.count(), 0U);
  {
    const internal::FaultInjection injection(
        [](std::string_view call) -> internal::Fault { return {.error = call == "rename" ? EROFS : 0}; });
    EXPECT_FALSE(make_whole_folder(temp.file("a"), [](const std::string& folder) { return filled(folder, "whole"); }));
  }
  EXPECT_EQ(temp.count(), 0U);
}

}  // namespace
}  // namespace headpond
