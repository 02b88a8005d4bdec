// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "headpond/io/file/mapped_file.h"
#include "headpond/monitor/run/mapped_files_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

TEST(MappedFiles, AreThoseThatAreNoPrograms) {
  std::istringstream smaps(
      "55d0-55d1 r--p 00000000 08:01 7                          /usr/bin/headpond\n"
      "Rss:                 400 kB\nPss:                 300 kB\nPss_Dirty:           300 kB\n"
      "55d1-55d2 r-xp 00001000 08:01 7                          /usr/bin/headpond\nPss:                  50 kB\n"
      "7f00-7f10 r--s 00000000 08:01 9                          /data/a b-c\nPss:                  12 kB\n"
      "7f20-7f30 rw-p 00000000 00:00 0 \nPss:                4000 kB\n"
      "7f40-7f50 rw-p 00000000 00:00 0                          [heap]\nPss:                5000 kB\n"
      "7f50-7f60 r--s 00002000 08:01 9                          /data/a b-c\nPss:                   3 kB\n"
      "7f60-7f70 rw-s 00000000 00:01 3                          /dev/shm/one\nPss:               700 kB\n"
      "7f70-7f80 rw-s 00000000 00:01 4                          /memfd:two (deleted)\nPss:               800 kB\n"
      "VmFlags: rd mr mw me\n");
  EXPECT_EQ(mapped_data_bytes(smaps), 15 << 10);
  std::istringstream none;
  EXPECT_EQ(mapped_data_bytes(none), 0);
}

TEST(MappedFiles, OfThisProcess) {
  constexpr int64_t kBytes = 3 << 20;
  const std::string path = testing::TempDir() + "headpond_mapped_files_test";  // Tests' folders are shared memory.
  test::put_file(path, std::vector<std::byte>(kBytes, std::byte{1}));
  const int64_t before = mapped_data_bytes();
  const auto file = MappedFile::open(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(std::count((*file)->bytes().begin(), (*file)->bytes().end(), std::byte{1}), kBytes);
  EXPECT_GE(mapped_data_bytes() - before, kBytes / 2) << "half, if a file's pages are shared with another process";
}

}  // namespace
}  // namespace headpond::internal
