// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/glob.h"

#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::put_file;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExpandFiles : public ::testing::Test {
 protected:
  void make(const std::string& name) const { put_file(folder_.file(name), {}); }
  std::vector<std::string> names(const std::string& pattern) const {
    auto files = expand_files(folder_.file(pattern)).value();
    for (std::string& file : files) file = file.substr(folder_.path().size() + 1);
    return files;
  }
  ErrorKind error_of(const std::string& pattern) const { return expand_files(folder_.file(pattern)).error().kind(); }
  const TempFolder folder_;
};

TEST_F(ExpandFiles, GivesWhatMatchesSortedByItsBytes) {
  for (const auto* name : {"train-10", "train-9", "train-a", "Train-1", ".train-1.tmp", "test-1"}) make(name);
  std::filesystem::create_directory(folder_.file("train-folder"));
  EXPECT_THAT(names("train-*"), ElementsAre("train-10", "train-9", "train-a"));
  EXPECT_THAT(names("train-?"), ElementsAre("train-9", "train-a"));
  EXPECT_THAT(names("[Tt]*-1"), ElementsAre("Train-1", "test-1"));
  EXPECT_THAT(names("*"), ElementsAre("Train-1", "test-1", "train-10", "train-9", "train-a"));
}

TEST_F(ExpandFiles, GoesThroughFoldersThatMatch) {
  for (const auto* name : {"a", "b"}) {
    std::filesystem::create_directory(folder_.file(name));
    make(std::string(name) + "/x");
  }
  make("c");
  EXPECT_THAT(names("*/x"), ElementsAre("a/x", "b/x"));
}

// Those without folders that match are found without it.
TEST_F(ExpandFiles, AreThoseOfGlob) {
  std::filesystem::create_directories(folder_.file("d/e"));
  for (const char* const name :
       {"a", "ab", "a.b", ".a", "..a", "a b", "a\n", "a\xff", "\xc3\xa4", "a]", "a-", "d/a", "A*"}) {
    make(name);
  }
  std::filesystem::create_symlink("none", folder_.file("ax"));
  std::filesystem::create_symlink("ab", folder_.file("ay"));
  const auto by_glob = [](const std::string& pattern) {
    glob_t found = {};
    std::vector<std::string> files;
    if (::glob(pattern.c_str(), GLOB_MARK, nullptr, &found) == 0)
      files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    std::erase_if(files, [](const std::string& file) { return file.ends_with('/'); });
    std::sort(files.begin(), files.end());
    return files;
  };
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const std::string path = folder_.path();
  for (const std::string& in :
       std::vector<std::string>{"", "./", "d/", "d//", "d/../", path + "/", path + "//", "/", "/proc/self/"}) {
    for (const char* const name : {"*", "?", "a*", "a?", ".*", "*.*", "??", "*b", "a*b*", "*-", "*]", "*e", "s*"}) {
      std::vector<std::string> found, expected;
      for (int tries = 10; tries > 0; --tries) {  // Others may write into the root meanwhile.
        found = expand_files(in + name).value_or(std::vector<std::string>());
        expected = by_glob(in + name);
        if (found == expected) break;
      }
      EXPECT_EQ(found, expected) << in + name;
    }
  }
  EXPECT_THAT(expand_files(std::string("a?")).value(), ElementsAre("a\n", "a-", "a]", "ab", "ax", "ay", "a\xff"))
      << "control";
  std::filesystem::current_path(before);
}

TEST_F(ExpandFiles, NothingThatMatchesIsNotFound) {
  const Error error = expand_files(folder_.file("none-*")).error();
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_THAT(error.message(), HasSubstr(folder_.file("none-*")));
  EXPECT_EQ(error_of("none/*"), ErrorKind::NotFound);
  std::filesystem::create_directory(folder_.file("only-a-folder"));
  EXPECT_EQ(error_of("only-*"), ErrorKind::NotFound);
}

TEST_F(ExpandFiles, LinksInARingAreNotFollowed) {
  std::filesystem::create_directory(folder_.file("d"));
  make("d/x");
  std::filesystem::create_directory_symlink(folder_.path(), folder_.file("d/up"));
  std::filesystem::create_symlink(folder_.file("ring"), folder_.file("ring"));
  std::filesystem::create_symlink(folder_.file("none"), folder_.file("r-nowhere"));
  EXPECT_THAT(names("d/*"), ElementsAre("d/x"));
  EXPECT_THAT(names("*/x"), ElementsAre("d/x"));
  EXPECT_THAT(names("r*"), ElementsAre("r-nowhere", "ring")) << "opening them tells";
}

TEST_F(ExpandFiles, LeavesOutAFolderThatALinkOrAnEscapedNameLeadsTo) {
  make("s-1");
  EXPECT_EQ(names("s-*"), (std::vector<std::string>{"s-1"})) << "files only";
  std::filesystem::create_directory(folder_.file("d*"));
  std::filesystem::create_directory_symlink(folder_.file("d*"), folder_.file("s-2"));
  EXPECT_EQ(names("s-*"), (std::vector<std::string>{"s-1"}));
  EXPECT_EQ(error_of("d\\*"), ErrorKind::NotFound) << "no folder was read";
}

TEST_F(ExpandFiles, AFolderThatCannotBeReadIsNamed) {
  std::filesystem::create_directory(folder_.file("d"));
  make("d/x");
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(folder_.file("d").c_str(), 0), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto files = expand_files(folder_.file("d/*"));
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_EQ(chmod(folder_.file("d").c_str(), 0755), 0);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(files.error().message(), HasSubstr(folder_.file("d")));
}

TEST_F(ExpandFiles, AListThatFailsHalfWayIsNoShorterList) {
  for (const auto* name : {"1", "2", "3", "4"}) make(name);
  for (const int error : {ESTALE, EIO}) {
    const internal::FaultInjection hook([error, entries = 0](std::string_view call) mutable {
      return internal::Fault{.error = call == "readdir" && ++entries == 4 ? error : 0};
    });
    const auto files = expand_files(folder_.file("*"));
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().os_error(), error);
    EXPECT_THAT(files.error().message(), HasSubstr(folder_.path()));
  }
  EXPECT_EQ(names("*").size(), 4U);
}

TEST_F(ExpandFiles, WhatVanishesOrIsNoFolderOnTheWayHidesNothing) {
  for (const auto* name : {"b", "d", "z"}) std::filesystem::create_directory(folder_.file(name));
  for (const auto* name : {"a", "b/x", "d/x", "z/x"}) make(name);
  std::filesystem::create_symlink(folder_.file("none"), folder_.file("c"));
  EXPECT_THAT(names("*/x"), ElementsAre("b/x", "d/x", "z/x"));
  EXPECT_THAT(names("*/*"), ElementsAre("b/x", "d/x", "z/x"));
  EXPECT_EQ(error_of("nosuch/*"), ErrorKind::NotFound);
}

TEST_F(ExpandFiles, ANumberAfterAnAtMeansSoManyShards) {
  EXPECT_THAT(names("x.tfrecord@3"),
              ElementsAre("x.tfrecord-00000-of-00003", "x.tfrecord-00001-of-00003", "x.tfrecord-00002-of-00003"));
  const auto many = expand_files("x@100000").value();
  EXPECT_EQ(many.size(), 100'000U);
  EXPECT_EQ(many.back(), "x-99999-of-100000");
  for (const auto* bad : {"x@0", "x@1000001", "x@99999999999999999999"}) {
    EXPECT_EQ(expand_files(std::string(bad)).error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_THAT(expand_files(std::string("me@home")).value(), ElementsAre("me@home"));
}

TEST_F(ExpandFiles, TheNameOfAnExistingFileIsThatFile) {
  for (const auto* name : {"x@2", "a[1]", "a1", "*"}) make(name);
  EXPECT_THAT(names("x@2"), ElementsAre("x@2"));
  EXPECT_THAT(names("a[1]"), ElementsAre("a[1]"));
  EXPECT_THAT(names("*"), ElementsAre("*"));
}

TEST_F(ExpandFiles, AListKeepsItsOrderAndAnEmptyOneIsEmpty) {
  for (const auto* name : {"a1", "a2"}) make(name);
  const std::vector<std::string> patterns = {folder_.file("z"), folder_.file("a*"), folder_.file("z")};
  EXPECT_THAT(expand_files(patterns).value(),
              ElementsAre(folder_.file("z"), folder_.file("a1"), folder_.file("a2"), folder_.file("z")));
  EXPECT_THAT(expand_files(std::span<const std::string>()).value(), IsEmpty());
  EXPECT_EQ(expand_files(std::vector<std::string>{""}).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(expand_files(std::string("a\0b", 3)).error().kind(), ErrorKind::InvalidArgument);
}

TEST_F(ExpandFiles, AListOfLiteralsIsEachOfThem) {
  EXPECT_THAT(expand_files({"a", "b"}).value(), ElementsAre("a", "b"));
  EXPECT_THAT(expand_files({"a@2", std::string("b")}).value(),
              ElementsAre("a-00000-of-00002", "a-00001-of-00002", "b"));
}

TEST_F(ExpandFiles, AHundredThousandNamesAreNoTrouble) {
  const std::vector<std::string> names(100'000, folder_.file("x"));
  EXPECT_EQ(expand_files(names).value(), names);
}

}  // namespace
}  // namespace headpond
