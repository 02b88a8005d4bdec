// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/test_files.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConvertInputs : public testing::Test {
 protected:
  void put(const std::string& name, std::string_view content) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    test::put_file(folder_.file(name), test::to_bytes(content));
  }
  // Also for a file system whose clock stood still.
  void change_time(const std::string& name, std::chrono::nanoseconds by) {
    const auto was = std::filesystem::last_write_time(folder_.file(name));
    std::filesystem::last_write_time(folder_.file(name), was + by);
  }
  const test::TempFolder folder_;
};

TEST_F(ConvertInputs, AreTheSameIffNamesSizesAndTimesAre) {
  put("a.csv", "a\n1\n");
  put("b.csv", "a\n2\n");
  const auto line = [&] { return inputs_line(input_files("csv", {folder_.file("*.csv")})); };
  const std::string first = line();
  EXPECT_EQ(line(), first);
  EXPECT_THAT(first, HasSubstr("inputs: 2 files, 8 bytes"));
  EXPECT_THAT(first, Not(HasSubstr("\n")));
  change_time("a.csv", std::chrono::nanoseconds(1'000'000));
  const std::string touched = line();
  EXPECT_NE(touched, first) << "of the same size";
  put("a.csv", "a\n12\n");
  EXPECT_NE(line(), touched);
  const std::string two = line();
  std::filesystem::rename(folder_.file("a.csv"), folder_.file("c.csv"));
  EXPECT_NE(line(), two);
}

TEST_F(ConvertInputs, NameTheOneThatChangedLast) {
  for (const char* name : {"a", "b", "c"}) put(name, name);
  change_time("b", std::chrono::hours(1));
  const std::vector<std::string> words = {folder_.file("a"), folder_.file("b"), folder_.file("c")};
  EXPECT_THAT(inputs_line(input_files("tar", words)), HasSubstr("changed last: " + folder_.file("b") + " at 20"));
}

TEST_F(ConvertInputs, OfAFolderAreTheFilesBelowIt) {
  put("cat/1", "one");
  put("dog/deep/2", "two");
  const std::string first = inputs_line(input_files("folder", {folder_.path()}));
  EXPECT_THAT(first, HasSubstr("2 files, 6 bytes"));
  change_time("dog/deep/2", std::chrono::seconds(1));
  EXPECT_NE(inputs_line(input_files("folder", {folder_.path()})), first);
}

TEST_F(ConvertInputs, ThatAreMissingAreLeftToWhoOpensThem) {
  EXPECT_THAT(input_files("folder", {folder_.file("none")}), IsEmpty());
  EXPECT_THAT(input_files("wav", {folder_.file("*.none")}), IsEmpty());
  EXPECT_THAT(inputs_line(input_files("idx", {folder_.file("none")})), HasSubstr("1 files, 0 bytes"));
}

TEST_F(ConvertInputs, AreNotReplacedByWhatIsMadeOfThem) {
  put("in/data-00000-of-00001.tar", "x");
  put("in/other.tar", "x");
  std::filesystem::create_symlink(folder_.file("in"), folder_.file("link"));
  std::filesystem::create_symlink(folder_.file("in/data-00000-of-00001.tar"), folder_.file("renamed.tar"));
  const auto refusal = [&](const std::string& input, const std::string& out, const std::string& name = "data") {
    return output_refusal("tar", {folder_.file(input)}, {folder_.file(input)}, folder_.file(out), name);
  };
  for (const char* out : {"in", "in/", "in/.", "link", "out/../in"}) {
    EXPECT_THAT(refusal("in/data-00000-of-00001.tar", out), HasSubstr("choose another")) << out;
    EXPECT_THAT(refusal("renamed.tar", out), HasSubstr("renamed.tar")) << out;
    EXPECT_EQ(refusal("in/other.tar", out), "") << out;
    EXPECT_EQ(refusal("in/data-00000-of-00001.tar", out, "train"), "") << out;
  }
  EXPECT_EQ(refusal("in/data-00000-of-00001.tar", "out"), "");
  put("in/.data.plan", "x");
  put("out/x", "x");
  std::filesystem::create_symlink(folder_.file("in/other.tar"), folder_.file("out/.data.plan"));
  EXPECT_THAT(refusal("in/.data.plan", "in"), HasSubstr("data.plan"));
  EXPECT_THAT(refusal("in/other.tar", "out"), HasSubstr("other.tar"));
}

TEST_F(ConvertInputs, AFolderIsNotWrittenInto) {
  put("pets/cat/1.txt", "x");
  const auto refusal = [&](const std::string& out) {
    return output_refusal("folder", {folder_.file("pets")}, {}, folder_.file(out), "data");
  };
  for (const char* out : {"pets", "pets/out", "pets/cat/out/", "pets2/../pets/a"}) {
    EXPECT_THAT(refusal(out), HasSubstr("choose another")) << out;
  }
  for (const char* out : {"out", "pets2", "pets/../out", "."}) EXPECT_EQ(refusal(out), "") << out;
}

}  // namespace
}  // namespace headpond::cli
