// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/monitor/stalls/cold_files_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// On the disk, not in memory as the other tests' files are.
class ColdFilesTest : public testing::Test {
 protected:
  ColdFilesTest() {
    auto file = value_or_throw(FileWriter::open(path_));
    const std::string line(1000, 'x');
    for (int i = 0; i < kLines; ++i) EXPECT_TRUE(file->write(line + "\n"));
    EXPECT_TRUE(file->close());
  }
  ~ColdFilesTest() override { std::filesystem::remove(path_); }

  // How much of it is in memory.
  double share_in_memory() const {
    const size_t bytes = std::filesystem::file_size(path_), page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED) return -1;
    std::vector<unsigned char> pages((bytes + page - 1) / page);
    EXPECT_EQ(::mincore(mapped, bytes, pages.data()), 0);
    ::munmap(mapped, bytes);
    const auto there = std::count_if(pages.begin(), pages.end(), [](unsigned char one) { return (one & 1) != 0; });
    return static_cast<double>(there) / static_cast<double>(pages.size());
  }

  static constexpr int kLines = 2000;
  const std::string path_ = testing::TempDir() + "headpond_cold_files_" + std::to_string(now_ns());
};

TEST_F(ColdFilesTest, AreThoseThatNoDatasetHasMapped) {
  const std::set<std::string> files = files_of(text_lines(path_));
  EXPECT_EQ(files, std::set<std::string>{path_});
  std::optional<Dataset> dataset = text_lines(path_);
  make_cold(files);
  if (share_in_memory() > 0.1) GTEST_SKIP() << "this file system keeps files in memory";
  int64_t lines = 0;
  Sequence sequence(*dataset);
  while (sequence.next()) ++lines;
  EXPECT_EQ(lines, kLines);
  EXPECT_GT(share_in_memory(), 0.9);
  make_cold(files);
  EXPECT_GT(share_in_memory(), 0.9) << "control: the dataset has it mapped";
  sequence = Sequence(range(1));
  dataset.reset();
  make_cold(files);
  EXPECT_LT(share_in_memory(), 0.1);
}

class FilesOf : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content = "1\n2\n") {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    test::put_file(folder_.file(name), test::to_bytes(content));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(FilesOf, AreThoseOfAllSourcesWhateverTheirNamesAndWhateverComesAfterThem) {
  const std::string a = file("it's, 'a'.txt"), b = file("b*.txt"), c = file("c.txt");
  const Dataset lines = text_lines(std::vector{a, b}) | batch(2) | prefetch(2) | distribute(2, 0);
  EXPECT_THAT(files_of(lines), ElementsAre(b, a));
  EXPECT_THAT(files_of(concatenate({text_lines(c), text_lines(c)}) | cache({.folder = folder_.file("kept")})),
              ElementsAre(c));
  EXPECT_THAT(files_of(list_files(folder_.file("*.txt"))), ElementsAre(b, c, a));
  EXPECT_THAT(files_of(range(3) | batch(2)), IsEmpty());
}

TEST_F(FilesOf, AreAllOfALongList) {
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i) many.push_back(file("many/" + std::to_string(i)));
  EXPECT_EQ(files_of(text_lines(many)).size(), 50U);
}

TEST_F(FilesOf, OfAFolderAreAllInIt) {
  const std::string one = file("images/cat/1"), two = file("images/dog/more/2");
  EXPECT_THAT(files_of(folder(folder_.file("images"))), ElementsAre(one, two));
}

TEST_F(FilesOf, OfAStreamAreItsFilesToo) {
  const std::string path = file("records.z", "");
  const Dataset stream = tfrecord(path);
  EXPECT_EQ(stream.kind(), Kind::stream) << "control";
  EXPECT_THAT(files_of(stream), ElementsAre(path));
}

TEST_F(FilesOf, ThatAreNotThereAreAnError) { EXPECT_THROW((void)files_of(text_lines("nowhere")), Exception); }

}  // namespace
}  // namespace headpond::internal
