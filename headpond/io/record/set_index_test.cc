// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/set_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "headpond/io/file/file.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

class SetIndexTest : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  const test::TempFolder cache_;
  const std::vector<std::string> paths_ = {"/a/x", "/a/y"};
  const std::vector<CountedFile> counts_ = {{{10, -5, 7, 8}, {10, -5, 1, 2}, 3}, {{0, 1, 0, 0}, {0, 1, 0, 0}, 0}};
};

TEST_F(SetIndexTest, ReturnsWhatWasKept) {
  const SetIndex index("lines", paths_);
  EXPECT_EQ(index.read(), std::nullopt);
  ASSERT_TRUE(index.keep(counts_));
  EXPECT_EQ(index.read(), counts_);
  ASSERT_TRUE(SetIndex("none", {}).keep({}));
  EXPECT_EQ(SetIndex("none", {}).read(), std::vector<CountedFile>());
}

TEST_F(SetIndexTest, BelongsToAReaderAndItsFilesInTheirOrder) {
  ASSERT_TRUE(SetIndex("lines", paths_).keep(counts_));
  EXPECT_EQ(SetIndex("rows", paths_).read(), std::nullopt);
  EXPECT_EQ(SetIndex("lines", std::vector<std::string>{"/a/y", "/a/x"}).read(), std::nullopt);
  EXPECT_EQ(SetIndex("lines", std::vector<std::string>{"/a/x"}).read(), std::nullopt);
  EXPECT_EQ(SetIndex("lines", std::vector<std::string>{"/a/../a/x", "/a/./y"}).read(), counts_) << "the same files";
}

TEST_F(SetIndexTest, ADamagedOneIsNone) {
  const SetIndex index("lines", paths_);
  ASSERT_TRUE(index.keep(counts_));
  const std::vector<std::byte> whole = read_file(index.path()).value();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{16};
    test::put_file(index.path(), damaged);
    EXPECT_EQ(index.read(), std::nullopt) << at;
    test::put_file(index.path(), std::span(whole).first(at));
    EXPECT_EQ(index.read(), std::nullopt) << at;
  }
  test::put_file(index.path(), whole);
  EXPECT_EQ(index.read(), counts_) << "control";
}

TEST_F(SetIndexTest, WithoutACacheFolderNothingIsKept) {
  setenv("XDG_CACHE_HOME", "relative", 1);
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  unsetenv("HOME");
  const SetIndex index("lines", paths_);
  if (home != nullptr) setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(index.path(), "");
  EXPECT_EQ(index.read(), std::nullopt);
  EXPECT_EQ(index.keep(counts_).error().kind(), ErrorKind::FailedPrecondition);
}

TEST_F(SetIndexTest, AStampIsThatOfTheMark) {
  const std::string path = cache_.file("x");
  test::put_file(path, test::to_bytes("hello"));
  const FileMark mark = mark_of(*MappedFile::open(path).value());
  EXPECT_EQ(stamp_of(path)->size, mark.size);
  EXPECT_EQ(stamp_of(path)->modified_ns, mark.modified_ns);
  EXPECT_EQ(stamp_of(path + "y").error().kind(), ErrorKind::NotFound);
}

}  // namespace
}  // namespace headpond
