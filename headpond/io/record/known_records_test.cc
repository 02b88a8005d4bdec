// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/known_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headpond/io/file/kept_fd_test_internal.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

class KnownRecordsTest : public testing::Test {
 protected:
  void SetUp() override { put({"a", "", "ccc"}); }

  void put(const std::vector<std::string>& payloads) { test::put_file(path_, test::frames_of(payloads)); }
  // Changes the content, the size not, until the system's clock has gone on.
  void change(bool keeps_time) {
    const FileStamp before = stamp_of(path_).value();
    const auto time = std::filesystem::last_write_time(path_);
    do {
      put({"b", "", "ccc"});
      if (keeps_time) std::filesystem::last_write_time(path_, time);
    } while (stamp_of(path_)->changed_ns == before.changed_ns);
  }
  void look() {
    index_ = std::make_shared<const RecordIndex>(RecordIndex::make(**MappedFile::open(path_)).value());
    stamp_ = stamp_of(path_).value();
  }
  std::unique_ptr<KnownRecords> open() const { return KnownRecords::open(path_, index_, stamp_).value(); }
  static std::string text(const std::optional<KnownRecords::Payload>& payload) {
    return payload ? test::text_of(payload->bytes) : "none";
  }
  static std::string mapped(const KnownRecords& records, uint64_t i) {
    const auto file = records.file();
    if (!file) return file.error().message();
    const auto payload = (*file)->at(i);
    return payload ? test::text_of(*payload) : payload.error().message();
  }
  static std::vector<std::string> calls_of(const std::function<void()>& what) {
    std::vector<std::string> calls;
    const FaultInjection hook([&](std::string_view call) {
      calls.emplace_back(call);
      return Fault{};
    });
    what();
    return calls;
  }

  const RestoredFdLimit restored_;
  const test::TempFolder folder_;
  const std::string path_ = folder_.file("x");
  std::shared_ptr<const RecordIndex> index_;
  FileStamp stamp_;
};

TEST_F(KnownRecordsTest, ReadTheFirstRecordAndMapTheFileForOthers) {
  look();
  std::unique_ptr<KnownRecords> records;
  EXPECT_THAT(calls_of([&] { records = open(); }), testing::ElementsAre("open", "fstat"));
  EXPECT_THAT(calls_of([&] { EXPECT_EQ(text(records->read_first(2)), "ccc"); }), testing::ElementsAre("pread"));
  EXPECT_THAT(calls_of([&] { EXPECT_EQ(text(records->read_first(2)), "none"); }), testing::IsEmpty());
  EXPECT_THAT(calls_of([&] { EXPECT_EQ(mapped(*records, 2), "ccc"); }), testing::ElementsAre("fstat", "mmap"));
  EXPECT_THAT(calls_of([&] { EXPECT_EQ(mapped(*records, 0), "a"); }), testing::IsEmpty());
  EXPECT_EQ(text(open()->read_first(1)), "");
  EXPECT_EQ(text(open()->read_first(3)), "none") << "there is no such record";
}

TEST_F(KnownRecordsTest, BeyondTheDescriptorsThatMayBeHeldFilesAreMappedAtOnce) {
  look();
  most_kept_fds = 1;
  const auto first = open(), second = open();
  EXPECT_EQ(text(second->read_first(2)), "none");
  EXPECT_EQ(mapped(*second, 2), "ccc");
  EXPECT_EQ(text(first->read_first(2)), "ccc") << "control";
  EXPECT_EQ(mapped(*first, 2), "ccc") << "now it holds none";
  EXPECT_EQ(text(open()->read_first(2)), "ccc");
}

TEST_F(KnownRecordsTest, BelongToOneStamp) {
  look();
  EXPECT_NE(open(), nullptr) << "control";
  change(true);
  EXPECT_EQ(stamp_of(path_)->size, stamp_.size);
  EXPECT_EQ(stamp_of(path_)->modified_ns, stamp_.modified_ns);
  EXPECT_EQ(open(), nullptr) << "ctime tells";
  look();
  std::filesystem::copy_file(path_, folder_.file("copy"));
  std::filesystem::rename(folder_.file("copy"), path_);
  EXPECT_EQ(open(), nullptr) << "another file";
  look();
  const FileStamp whole = std::exchange(stamp_, FileStamp{stamp_.size, stamp_.modified_ns, 0, stamp_.inode, 0});
  EXPECT_EQ(open(), nullptr) << "too young for a proof";
  stamp_ = whole;
  EXPECT_NE(open(), nullptr) << "control";
  std::filesystem::remove(path_);
  EXPECT_EQ(KnownRecords::open(path_, index_, stamp_).error().kind(), ErrorKind::NotFound);
}

TEST_F(KnownRecordsTest, ADamagedRecordIsNotGiven) {
  auto bytes = test::frames_of({"a", "", "ccc"});
  look();
  for (size_t at = index_->offset(2); at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{1};
    test::put_file(path_, damaged);
    stamp_ = stamp_of(path_).value();
    const auto records = open();
    ASSERT_NE(records, nullptr);
    EXPECT_EQ(text(records->read_first(2)), "none") << at;
    EXPECT_THAT(mapped(*records, 2), HasSubstr(path_)) << at;
  }
  test::put_file(path_, bytes);
  stamp_ = stamp_of(path_).value();
  EXPECT_EQ(text(open()->read_first(2)), "ccc") << "control";
}

TEST_F(KnownRecordsTest, AChangeAfterTheFileWasOpenedIsAnError) {
  look();
  auto records = open();
  change(false);
  EXPECT_THAT(mapped(*records, 0), HasSubstr("it has changed since its records were counted"));
  look();
  records = open();
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(mapped(*records, 0), "b") << "only touched";
}

TEST_F(KnownRecordsTest, WhatCannotBeReadIsAskedForAgain) {
  look();
  const auto records = open();
  {
    const FaultInjection hook(
        [](std::string_view call) { return Fault{.error = call == "pread" || call == "mmap" ? EIO : 0}; });
    EXPECT_EQ(text(records->read_first(0)), "none");
    EXPECT_THAT(mapped(*records, 0), HasSubstr("cannot map"));
  }
  EXPECT_EQ(mapped(*records, 0), "a");
}

// Offsets in an entry that somebody damaged.
TEST_F(KnownRecordsTest, DamagedOffsetsAreMadeAnew) {
  setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
  look();
  const SetIndex set("x", std::vector{path_, path_});
  const CountedFile counted{stamp_, index_->mark(), 3};
  ASSERT_TRUE(set.keep(std::vector{counted, counted}, {{index_, index_}}));
  const auto opened = [&](size_t n) {
    const KnownOffsets known(set.read(), n);
    return KnownRecords::open(path_, known, stamp_).value();
  };
  auto bytes = test::get_file(set.path());
  bytes[bytes.size() - 5] ^= std::byte{1};  // The last offset of the second file.
  test::put_file(set.path(), bytes);
  const auto whole = opened(0), damaged = opened(1);
  EXPECT_EQ(text(whole->read_first(2)), "ccc") << "control";
  EXPECT_EQ(damaged->size(), 3U);
  EXPECT_EQ(text(damaged->read_first(2)), "none");
  EXPECT_EQ(damaged->index(), nullptr);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(mapped(*damaged, i), mapped(*whole, i));
  ASSERT_NE(damaged->index(), nullptr);
  EXPECT_EQ(damaged->index()->offset(3), index_->offset(3));
  EXPECT_FALSE(std::filesystem::exists(set.path())) << "so that the next program makes it anew";
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace headpond::internal
