// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/io/memory_test_internal.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::frame_of;
using test::frames_of;
using test::get_file;
using test::prefix;
using test::put_file;
using test::TempFolder;
using test::text_of;
using test::with_flipped_bit;
using testing::AllOf;
using testing::HasSubstr;

class RecordFileTest : public ::testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1); }
  std::string path() const { return folder_.file("a"); }
  void put(const std::vector<std::string>& records) const { put_file(path(), frames_of(records)); }
  std::string index() const { return record_index_path(path()).value(); }
  static std::vector<std::string> all(const RecordFile& file) {
    std::vector<std::string> records;
    for (uint64_t i = 0; i < file.size(); ++i) records.push_back(text_of(file.at(i).value()));
    return records;
  }
  void set_time(time_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path().c_str(), times, 0), 0);
  }
  const TempFolder folder_;
};

const std::vector<std::string> kRecords = {"first", "", "third", std::string(5'000, 'x'), "last"};

TEST_F(RecordFileTest, GivesAnyRecordByItsNumber) {
  put(kRecords);
  const auto file = RecordFile::open(path()).value();
  EXPECT_EQ(file->size(), 5U);
  EXPECT_EQ(text_of(file->at(4).value()), "last");
  EXPECT_EQ(text_of(file->at(2).value()), "third");
  EXPECT_EQ(all(*file), kRecords);
  EXPECT_TRUE(file->check());
  EXPECT_EQ(file->path(), path());
  EXPECT_EQ(file->lost_bytes(), 0U);
}

TEST_F(RecordFileTest, OfAnEmptyFileHasNoRecords) {
  put({});
  EXPECT_EQ(RecordFile::open(path()).value()->size(), 0U);
  EXPECT_EQ(RecordFile::open(path()).value()->at(0).error().kind(), ErrorKind::OutOfRange);
}

TEST_F(RecordFileTest, KeepsTheIndexAndReadsItTheNextTime) {
  put(kRecords);
  EXPECT_FALSE(RecordFile::open(path()).value()->index_was_kept());
  EXPECT_TRUE(std::filesystem::exists(index()));
  const auto again = RecordFile::open(path()).value();
  EXPECT_TRUE(again->index_was_kept());
  EXPECT_EQ(all(*again), kRecords);
  EXPECT_FALSE(RecordFile::open(path(), {.keep_index = false}).value()->index_was_kept());
}

TEST_F(RecordFileTest, MakesADamagedOrStaleIndexAnew) {
  put(kRecords);
  ASSERT_TRUE(RecordFile::open(path()));
  const Bytes good = get_file(index());
  for (const Bytes& bad : {Bytes(), prefix(good, 40), with_flipped_bit(good, 800), Bytes(1'000)}) {
    put_file(index(), bad);
    const auto file = RecordFile::open(path()).value();
    EXPECT_FALSE(file->index_was_kept());
    EXPECT_EQ(all(*file), kRecords);
    EXPECT_EQ(get_file(index()), good);
  }
  put({"first", "", "third", "other", "and", "more"});
  EXPECT_FALSE(RecordFile::open(path()).value()->index_was_kept());
  EXPECT_EQ(RecordFile::open(path()).value()->size(), 6U);
}

TEST_F(RecordFileTest, MakesATornIndexAnew) {
  put(kRecords);
  ASSERT_TRUE(RecordFile::open(path()));
  const Bytes good = get_file(index());
  for (size_t whole = 0; whole < good.size(); ++whole) {
    for (const Bytes& torn : test::torn_after(whole, good)) {
      put_file(index(), torn);
      const auto file = RecordFile::open(path()).value();
      EXPECT_FALSE(file->index_was_kept()) << whole;
      EXPECT_EQ(all(*file), kRecords) << whole;
      EXPECT_EQ(get_file(index()), good) << whole;
    }
  }
  EXPECT_TRUE(RecordFile::open(path()).value()->index_was_kept()) << "control";
}

TEST_F(RecordFileTest, GoesOnWithoutACacheFolderThatCanBeWritten) {
  put(kRecords);
  put_file(folder_.file("cache"), {});
  EXPECT_EQ(all(*RecordFile::open(path()).value()), kRecords);
  unsetenv("XDG_CACHE_HOME");
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  unsetenv("HOME");
  EXPECT_EQ(all(*RecordFile::open(path()).value()), kRecords);
  setenv("HOME", home.c_str(), 1);
}

TEST_F(RecordFileTest, NoticesACutBetweenRecordsIfTheIndexOrANumberTellsOfMore) {
  put({std::string(5'000, 'x'), "", "third", "fourth", "last"});
  ASSERT_TRUE(RecordFile::open(path()));
  ASSERT_EQ(truncate(path().c_str(), 5'016 + 16 + 21), 0);
  EXPECT_THAT(RecordFile::open(path(), {.expected_records = 5}).error().message(),
              HasSubstr("5 records expected, 3 found"));
  EXPECT_EQ(RecordFile::open(path(), {.allow_damaged_end = true}).value()->size(), 3U);
  const Error error = RecordFile::open(path()).error();
  EXPECT_EQ(error.kind(), ErrorKind::DataLoss) << "also after it was opened in another way";
  EXPECT_THAT(error.message(), AllOf(HasSubstr("5 records expected, 3 found"), HasSubstr("remove " + index())));
  EXPECT_EQ(RecordFile::open(path(), {.keep_index = false}).value()->size(), 3U);
  EXPECT_THAT(RecordFile::open(path(), {.keep_index = false, .expected_records = 4}).error().message(),
              HasSubstr("4 records expected, 3 found"));
  ASSERT_EQ(unlink(index().c_str()), 0);
  EXPECT_EQ(RecordFile::open(path()).value()->size(), 3U);
}

TEST_F(RecordFileTest, AnEmptiedFileIsACutOneAndTheIndexForgetsNothing) {
  put(std::vector<std::string>(10, "abc"));
  ASSERT_TRUE(RecordFile::open(path()));
  ASSERT_EQ(truncate(path().c_str(), 0), 0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(RecordFile::open(path()).error().message(), HasSubstr("10 records expected, 0 found"));
    EXPECT_EQ(RecordFile::open(path(), {.allow_damaged_end = true}).value()->size(), 0U);
    EXPECT_FALSE(RecordFile::open(path(), {.expected_records = 10}));
  }
}

TEST_F(RecordFileTest, AFileThatHasTheNumberThatWasAskedForIsNotCut) {
  put(std::vector<std::string>(10, std::string(5'000, 'x')));
  ASSERT_TRUE(RecordFile::open(path()));
  ASSERT_EQ(truncate(path().c_str(), 3 * 5'016), 0);
  EXPECT_FALSE(RecordFile::open(path()));
  EXPECT_EQ(RecordFile::open(path(), {.expected_records = 3}).value()->size(), 3U);
  EXPECT_EQ(RecordFile::open(path()).value()->size(), 3U);
}

// Ten records give way to five others of the same length: nothing tells that from a cut but the bytes.
TEST_F(RecordFileTest, AShortFileOfOtherRecordsIsNotCalledCut) {
  put(std::vector<std::string>(10, std::string(50, 'x')));
  ASSERT_TRUE(RecordFile::open(path()));
  const std::vector<std::string> others(5, std::string(50, 'y'));
  put(others);
  EXPECT_EQ(all(*RecordFile::open(path()).value()), others);
}

TEST_F(RecordFileTest, ReportsADamagedEndUnlessItIsAllowed) {
  const Bytes whole = frames_of({"first", "second"});
  for (const Bytes& bad : {prefix(whole, whole.size() - 1), with_flipped_bit(whole, 8 * 22)}) {
    put_file(path(), bad);
    for (int round = 0; round < 2; ++round) {
      EXPECT_THAT(RecordFile::open(path()).error().message(), HasSubstr("at offset 21, record 1"));
      const auto file = RecordFile::open(path(), {.allow_damaged_end = true}).value();
      EXPECT_EQ(all(*file), std::vector<std::string>{"first"});
      EXPECT_EQ(file->lost_bytes(), bad.size() - 21);
    }
  }
}

// Large enough that neither end of the file shows what is between.
TEST_F(RecordFileTest, ARepairedFileIsNotJudgedByWhatItWas) {
  const std::vector<std::string> records(5, std::string(5'000, 'x'));
  const Bytes whole = frames_of(records), damaged = with_flipped_bit(whole, 8 * (2 * 5'016 + 9));
  put_file(path(), damaged);
  set_time(1'000);
  EXPECT_THAT(RecordFile::open(path()).error().message(), HasSubstr("record 2"));
  EXPECT_EQ(RecordFile::open(path(), {.allow_damaged_end = true}).value()->size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(index())) << "kept of a damaged end";
  const Bytes kept = RecordIndex::make(*MappedFile::open(path()).value()).value().to_bytes(path());
  put_file(path(), whole);
  set_time(1'000);
  EXPECT_EQ(all(*RecordFile::open(path()).value()), records);
  std::filesystem::create_directories(std::filesystem::path(index()).parent_path());
  put_file(index(), kept);
  for (const bool allowed : {false, true}) {
    EXPECT_EQ(all(*RecordFile::open(path(), {.allow_damaged_end = allowed}).value()), records);
  }
}

TEST_F(RecordFileTest, NamesADamagedRecordAndGivesTheOthers) {
  put_file(path(), with_flipped_bit(frames_of({"first", "second", "third"}), 8 * 35));
  const auto file = RecordFile::open(path()).value();
  EXPECT_EQ(text_of(file->at(2).value()), "third");
  EXPECT_EQ(file->at(1).error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(file->at(1).error().message(), AllOf(HasSubstr(path()), HasSubstr("at offset 21, record 1")));
  EXPECT_EQ(file->at(3).error().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(file->at(UINT64_MAX).error().kind(), ErrorKind::OutOfRange);
}

// The size, the time and the ends of the file are those of the index, the records between are others.
TEST_F(RecordFileTest, AWrongIndexIsNeverAWrongRecord) {
  const std::string half(6'000, 'x');
  put({half, "abcd", "e", half});
  ASSERT_TRUE(RecordFile::open(path()));
  struct stat before = {};
  ASSERT_EQ(stat(path().c_str(), &before), 0);
  put({half, "a", "bcde", half});
  const timespec times[2] = {before.st_mtim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path().c_str(), times, 0), 0);
  const auto file = RecordFile::open(path()).value();
  ASSERT_TRUE(file->index_was_kept());
  EXPECT_EQ(text_of(file->at(0).value()), half);
  EXPECT_THAT(file->at(1).error().message(), AllOf(HasSubstr("record 1"), HasSubstr("the file has changed")));
  EXPECT_EQ(file->at(2).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(text_of(file->at(3).value()), half);
}

TEST_F(RecordFileTest, SaysThatACompressedFileHasNoNumbers) {
  put_file(path(), test::gzip(frames_of(kRecords)));
  const Error error = RecordFile::open(path()).error();
  EXPECT_EQ(error.kind(), ErrorKind::Unimplemented);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(path()), HasSubstr("gzip")));
}

TEST_F(RecordFileTest, SurvivesAFileThatShrinks) {
  put(std::vector<std::string>(10, std::string(5'000, 'x')));
  const auto file = RecordFile::open(path()).value();
  const auto view = file->at(9).value();
  ASSERT_EQ(truncate(path().c_str(), 100), 0);
  EXPECT_EQ(view[4'000], std::byte{0});
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(file->at(5).error().to_string(), "DataLoss: cannot read record 5 at offset 25080: " + path() +
                                                 " shrank while it was read: 50160 bytes when opened, 100 now");
}

// The rest of the last page becomes zeros without a fault.
TEST_F(RecordFileTest, ACutInsideAPageIsToldByCheckToo) {
  put({std::string(3'000, 'x')});
  const auto file = RecordFile::open(path()).value();
  const auto view = file->at(0).value();
  EXPECT_TRUE(file->check());
  ASSERT_EQ(truncate(path().c_str(), 100), 0);
  EXPECT_EQ(view[2'999], std::byte{0});
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss);
}

TEST_F(RecordFileTest, SaysThatMemoryIsOutForTheIndex) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  const Bytes frame = frame_of("");
  Bytes many;
  for (int i = 0; i < 2'000'000; ++i) many.insert(many.end(), frame.begin(), frame.end());
  put_file(path(), many);
  many = {};
  EXPECT_OUT_OF_MEMORY([&] {
    test::allow_memory(33'000'000);
    return RecordFile::open(path());
  });
  const auto file = MappedFile::open(path()).value();
  EXPECT_OUT_OF_MEMORY([&] {
    test::allow_memory(1'000'000);
    return RecordIndex::make(*file);
  });
}

TEST_F(RecordFileTest, WhatChangesIsNamedWithItsRecordAndOffset) {
  put(std::vector<std::string>(10, std::string(5'000, 'x')));
  const auto file = RecordFile::open(path()).value();
  ASSERT_EQ(truncate(path().c_str(), 100), 0);
  EXPECT_THAT(file->at(5).error().message(), AllOf(HasSubstr(path()), HasSubstr("record 5 at offset 25080")));
}

TEST_F(RecordFileTest, ServesSeveralThreadsAndMakers) {
  std::vector<std::string> records;
  for (int i = 0; i < 2'000; ++i) records.push_back(fmt::format("record {}", i));
  put(records);
  std::vector<std::jthread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const auto file = RecordFile::open(path()).value();
      Random random(thread);
      for (int round = 0; round < 2'000; ++round) {
        const uint64_t i = random.below(2'000);
        file->will_need(std::vector<uint64_t>{i, i + 1, 0, 5'000});
        ASSERT_EQ(text_of(file->at(i).value()), records[i]);
      }
    });
  }
}

}  // namespace
}  // namespace headpond
