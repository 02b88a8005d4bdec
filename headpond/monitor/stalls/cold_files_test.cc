// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
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

namespace headpond::internal {
namespace {

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
  std::optional<Dataset> dataset = text_lines(path_);
  const SourceFiles files = files_of(*dataset);
  EXPECT_EQ(files.paths, std::set<std::string>{path_});
  EXPECT_TRUE(files.are_all);
  make_cold(files.paths);
  if (share_in_memory() > 0.1) GTEST_SKIP() << "this file system keeps files in memory";
  int64_t lines = 0;
  Sequence sequence(*dataset);
  while (sequence.next()) ++lines;
  EXPECT_EQ(lines, kLines);
  EXPECT_GT(share_in_memory(), 0.9);
  make_cold(files.paths);
  EXPECT_GT(share_in_memory(), 0.9) << "control: the dataset has it mapped";
  sequence = Sequence(range(1));
  dataset.reset();
  make_cold(files.paths);
  EXPECT_LT(share_in_memory(), 0.1);
}

TEST_F(ColdFilesTest, OfALongListSomeAreMissing) {
  EXPECT_FALSE(files_of(text_lines(std::vector<std::string>(50, path_))).are_all);
  EXPECT_TRUE(files_of(range(10) | batch(2)).are_all) << "control";
}

}  // namespace
}  // namespace headpond::internal
