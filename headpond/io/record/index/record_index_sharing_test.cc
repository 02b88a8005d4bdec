// SPDX-License-Identifier: Apache-2.0
// Several programs, one cached index: what they read while it is written.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headpond/io/file/file.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/record/record_file.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using Records = std::vector<std::string>;

class SharedRecordIndex : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1); }
  std::string path() const { return folder_.file("a"); }

  // Makes the file one of these records, in one moment.
  void replace(const Records& records, bool has_one_time) const {
    const std::string temp = folder_.file(fmt::format("new-{}", getpid()));
    test::put_file(temp, test::frames_of(records));
    const timespec times[2] = {{1'000, 0}, {1'000, 0}};
    if (has_one_time) (void)utimensat(AT_FDCWD, temp.c_str(), times, 0);
    (void)std::rename(temp.c_str(), path().c_str());
  }

  // Describes what is wrong with the file's records; "" if nothing. All records must come from one content, each under
  // its own number.
  std::string fault(const std::vector<Records>& contents, bool may_be_damaged) const {
    const auto file = RecordFile::open(path());
    if (!file) return file.error().to_string();
    std::vector<bool> fits(contents.size(), true);
    for (uint64_t i = 0; i < (*file)->size(); ++i) {
      const auto record = (*file)->at(i);
      if (!record && may_be_damaged && record.error().kind() == ErrorKind::DataLoss) continue;
      if (!record) return record.error().to_string();
      for (size_t c = 0; c < contents.size(); ++c) {
        fits[c] = fits[c] && i < contents[c].size() && test::text_of(*record) == contents[c][i];
      }
    }
    for (size_t c = 0; c < contents.size(); ++c) {
      if (fits[c] && (may_be_damaged || (*file)->size() == contents[c].size())) return "";
    }
    return "a wrong record";
  }

  // Of the index as it lies there: whole at any moment, once it was made.
  std::string index_fault() const {
    const std::string where = record_index_path(path()).value();
    const auto bytes = read_file(where);
    if (!bytes) return bytes.error().to_string();
    const auto index = RecordIndex::parse(*bytes, where, path());
    return index ? "" : index.error().to_string();
  }

  // Two programs that write the file and the index of what they find, while this one reads.
  void race(const std::vector<Records>& contents, bool has_one_time) const {
    constexpr int kRounds = 150;
    replace(contents[0], has_one_time);
    ASSERT_EQ(fault(contents, has_one_time), "");
    std::vector<pid_t> writers;
    for (const Records& mine : contents) {
      writers.push_back(fork());
      ASSERT_GE(writers.back(), 0);
      if (writers.back() != 0) continue;
      std::string found;
      for (int round = 0; round < kRounds && found.empty(); ++round) {
        replace(mine, has_one_time);
        found = fault(contents, has_one_time);
      }
      if (!found.empty()) (void)std::fprintf(stderr, "%s\n", found.c_str());
      _exit(found.empty() ? 0 : 1);
    }
    for (size_t ended = 0; ended < writers.size();) {
      EXPECT_EQ(fault(contents, has_one_time), "");
      EXPECT_EQ(index_fault(), "");
      int status = 0;
      if (waitpid(-1, &status, WNOHANG) <= 0) continue;
      ++ended;
      EXPECT_EQ(status, 0) << "what a writer read back";
    }
  }

  const test::TempFolder folder_;
};

TEST_F(SharedRecordIndex, OfAFileThatTwoProgramsReplaceNeverGivesAWrongRecord) {
  const Records first = {"one", "", std::string(5'000, 'x'), "last"};
  const Records other = {"another", "record", "more", std::string(9'000, 'y'), "z"};
  race({first, other}, false);
}

// Size, time, number of records and both ends are the same, so an index of one content is taken for that of the other;
// and of one of them the place of record 2 is where record 3 of the other begins.
TEST_F(SharedRecordIndex, OfContentsThatNothingTellsApartNeverGivesAWrongRecord) {
  const std::string half(6'000, 'x');
  race({{half, "", "", "twenty bytes of text", half}, {half, "sixteen of these", "ab", "cd", half}}, true);
}

}  // namespace
}  // namespace headpond
