// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/filenames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "tests/test_files.h"

namespace headpond::tf1 {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Filenames : public testing::Test {
 protected:
  std::string put(const std::string& name) {
    test::put_file(folder_.file(name), {});
    return folder_.file(name);
  }
  const test::TempFolder folder_;
};

TEST_F(Filenames, AreMatchedOnceAndStayTheSame) {
  const auto a = put("a.records"), b = put("b.records");
  const MatchedFilenames files = match_filenames_once(folder_.file("*.records")), copy = files;
  EXPECT_THAT(*files.value(), ElementsAre(a, b));
  put("c.records");
  std::filesystem::remove(a);
  EXPECT_THAT(*files.value(), ElementsAre(a, b));
  EXPECT_THAT(*copy.value(), ElementsAre(a, b));
}

TEST_F(Filenames, AreNotMatchedBeforeSomebodyAsksAndAnErrorIsNotKept) {
  const MatchedFilenames files = match_filenames_once(folder_.file("*"));
  EXPECT_EQ(files.value().error().kind(), ErrorKind::NotFound);
  const auto a = put("a");
  EXPECT_THAT(*files.value(), ElementsAre(a));
}

TEST_F(Filenames, OfSeveralPatternsAreEachInItsPlace) {
  const auto a = put("a"), b = put("b");
  EXPECT_THAT(*match_filenames_once({b, folder_.file("?")}).value(), ElementsAre(b, a, b));
  EXPECT_THAT(*match_filenames_once(std::vector<std::string>()).value(), IsEmpty());
}

TEST_F(Filenames, AreTheSameForAllThreads) {
  put("a");
  const MatchedFilenames files = match_filenames_once(folder_.file("*"));
  std::vector<std::future<std::vector<std::string>>> all;
  for (int i = 0; i < 4; ++i) {
    put("b" + std::to_string(i));
    all.push_back(std::async(std::launch::async, [files] { return *files.value(); }));
  }
  const auto expected = *files.value();
  for (auto& one : all) EXPECT_EQ(one.get(), expected);
}

}  // namespace
}  // namespace headpond::tf1
