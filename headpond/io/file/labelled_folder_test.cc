// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/labelled_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class LabelledFolders : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    test::put_file(folder_.file(name), test::to_bytes(content));
  }
  // "cat/1 0 5" for each file.
  std::vector<std::string> listed(const std::vector<std::string>& extensions = {}) {
    const auto found = list_labelled_folder(folder_.path(), extensions);
    EXPECT_TRUE(found) << found.error();
    std::vector<std::string> lines;
    for (const LabelledFile& file : found->files) {
      lines.push_back(file.path.substr(folder_.path().size() + 1) + " " + std::to_string(file.label) + " " +
                      std::to_string(file.size));
    }
    return lines;
  }
  test::TempFolder folder_;
};

TEST_F(LabelledFolders, GiveTheirNamesNumbersInOrder) {
  write("b/2.png", "22");
  write("b/1.png", "1");
  write("a/x/deep.png", "333");
  write("a/x.png", "");
  write("a/.hidden", "no");
  write(".git/none", "no");
  write("beside.png", "no");
  std::filesystem::create_directory(folder_.file("empty"));
  EXPECT_THAT(list_labelled_folder(folder_.path())->classes, ElementsAre("a", "b", "empty"));
  EXPECT_THAT(listed(), ElementsAre("a/x.png 0 0", "a/x/deep.png 0 3", "b/1.png 1 1", "b/2.png 1 2"));
}

TEST_F(LabelledFolders, ChooseByExtensionInAnyCase) {
  write("a/1.PNG", "");
  write("a/2.jpeg", "");
  write("a/png", "");
  write("a/3.tar.gz", "");
  EXPECT_THAT(listed({"png", "TAR.GZ"}), ElementsAre("a/1.PNG 0 0", "a/3.tar.gz 0 0"));
  EXPECT_THAT(listed({".png", ".TAR.GZ"}), ElementsAre("a/1.PNG 0 0", "a/3.tar.gz 0 0"));
  EXPECT_THAT(listed({"..png"}), IsEmpty());
  EXPECT_THAT(listed({"none"}), IsEmpty());
}

TEST_F(LabelledFolders, FollowLinksToFilesOnly) {
  write("a/1", "one");
  std::filesystem::create_symlink(folder_.file("a/1"), folder_.file("a/link"));
  std::filesystem::create_directory_symlink(folder_.path(), folder_.file("a/ring"));
  std::filesystem::create_directory_symlink(folder_.file("a"), folder_.file("also"));
  EXPECT_THAT(listed(), ElementsAre("a/1 0 3", "a/link 0 3"));
}

TEST_F(LabelledFolders, ThatCannotBeReadAreNamed) {
  const auto missing = list_labelled_folder(folder_.file("none"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(missing.error().message(), StartsWith("cannot list " + folder_.file("none") + ": "));
  const auto without = list_labelled_folder(folder_.path());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().kind(), ErrorKind::InvalidArgument);
  std::filesystem::create_directory(folder_.file("a"));
  std::filesystem::create_symlink(folder_.file("nowhere"), folder_.file("a/dangling"));
  const auto dangling = list_labelled_folder(folder_.path());
  ASSERT_FALSE(dangling);
  EXPECT_THAT(dangling.error().message(), StartsWith("cannot examine " + folder_.file("a/dangling") + ": "));
}

}  // namespace
}  // namespace headpond
