// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::AllOf;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(const MappedFile& file) { return {file.bytes().begin(), file.bytes().end()}; }

void add_to_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << text;
  ASSERT_TRUE(out.flush());
}

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST(MappedFile, GivesTheBytesAndKeepsNoDescriptorOpen) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  const size_t before = open_descriptors();
  const auto file = MappedFile::open(folder.file("a")).value();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(bytes_of(*file), to_bytes("abc"));
  EXPECT_EQ(file->path(), folder.file("a"));
  EXPECT_GT(file->modified_ns(), 0);
  EXPECT_FALSE(file->lost());
  EXPECT_TRUE(file->check());
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const TempFolder folder;
  put_file(folder.file("a"), {});
  const auto file = MappedFile::open(folder.file("a")).value();
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_TRUE(file->check());
  EXPECT_FALSE(file->lost());
  file->will_need(0, 10);
}

TEST(MappedFile, NamesWhatCannotBeMapped) {
  const TempFolder folder;
  EXPECT_EQ(MappedFile::open(folder.file("none")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(MappedFile::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(MappedFile::open("/dev/zero").error().kind(), ErrorKind::FailedPrecondition);
  put_file(folder.file("a"), to_bytes("abc"));
  for (const std::string_view failing : {"open", "fstat", "mmap"}) {
    const FaultInjection fault([&](std::string_view call) { return Fault{.error = call == failing ? ENOMEM : 0}; });
    const Error error = MappedFile::open(folder.file("a")).error();
    EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted) << failing;
    EXPECT_THAT(error.message(), HasSubstr(folder.file("a")));
  }
}

TEST(MappedFile, IsExaminedOnceWhenOpened) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  int looks = 0;
  const FaultInjection counting([&](std::string_view call) {
    looks += call == "fstat" || call == "stat" ? 1 : 0;
    return Fault{};
  });
  const auto file = MappedFile::open(folder.file("a")).value();
  EXPECT_EQ(looks, 1);
  EXPECT_TRUE(file->check());
  EXPECT_EQ(looks, 2) << "control";
}

TEST(MappedFile, SurvivesAFileThatShrinksAndSaysSo) {
  const TempFolder folder;
  put_file(folder.file("a"), Bytes(100'000, std::byte{1}));
  const auto file = MappedFile::open(folder.file("a")).value();
  ASSERT_EQ(truncate(folder.file("a").c_str(), 10), 0);
  EXPECT_FALSE(file->lost());
  EXPECT_EQ(file->check().error().message(),
            folder.file("a") + " shrank while it was read: 100000 bytes when opened, 10 now");
  EXPECT_FALSE(file->check().error().is_transient());
  EXPECT_EQ(bytes_of(*file)[99'999], std::byte{0});
  EXPECT_TRUE(file->lost());
  put_file(folder.file("a"), Bytes(100'000, std::byte{1}));
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss) << "also when the bytes are back";
  EXPECT_TRUE(file->check().error().is_transient()) << "a page of a file of this length could not be read";
  EXPECT_EQ(file->grown().error().kind(), ErrorKind::DataLoss);
}

// Four pages and a half of ones, cut at a place: what is read after it is zeros.
TEST(MappedFile, WhatWasReadPastACutIsToldWhereverTheCutIs) {
  const TempFolder folder;
  for (const size_t cut : {0, 1, 4095, 4096, 4097, 10'000, 16'383, 16'384, 16'385, 17'999, 18'000}) {
    put_file(folder.file("a"), Bytes(18'000, std::byte{1}));
    const auto file = MappedFile::open(folder.file("a")).value();
    ASSERT_EQ(truncate(folder.file("a").c_str(), static_cast<off_t>(cut)), 0);
    EXPECT_TRUE(file->check_read(file->bytes().first(cut))) << cut;
    EXPECT_EQ(file->check_read(file->bytes().last(1)).has_value(), cut == 18'000) << cut;
    EXPECT_EQ(file->check_read(file->bytes()).has_value(), cut == 18'000) << cut;
  }
  put_file(folder.file("a"), Bytes(18'000));
  const auto zeros = MappedFile::open(folder.file("a")).value();
  for (size_t end = 0; end <= 18'000; end += 100) EXPECT_TRUE(zeros->check_read(zeros->bytes().first(end)));
}

TEST(MappedFile, NoticesOtherContentInTheSameFile) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("old content"));
  const auto file = MappedFile::open(folder.file("a")).value();
  put_file(folder.file("a"), to_bytes("new content, longer"));
  const timespec later[2] = {{2'000'000'000, 0}, {2'000'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, folder.file("a").c_str(), later, 0), 0);
  EXPECT_THAT(file->check().error().message(), AllOf(HasSubstr(folder.file("a")), HasSubstr("rewritten")));
  EXPECT_EQ(file->grown().error().kind(), ErrorKind::DataLoss);
}

TEST(MappedFile, KeepsTheOldBytesWhenTheFileIsReplacedOrRemoved) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.file("a"), {to_bytes("old")}));
  const auto file = MappedFile::open(folder.file("a")).value();
  ASSERT_TRUE(write_file_atomically(folder.file("a"), {to_bytes("new and longer")}));
  EXPECT_EQ(bytes_of(*file), to_bytes("old"));
  EXPECT_TRUE(file->check());
  EXPECT_EQ(file->grown().value(), nullptr) << "another file";
  ASSERT_EQ(unlink(folder.file("a").c_str()), 0);
  EXPECT_EQ(bytes_of(*file), to_bytes("old"));
  EXPECT_TRUE(file->check());
  EXPECT_EQ(file->grown().value(), nullptr);
}

TEST(MappedFile, GivesWhatWasAppendedOnlyWhenAsked) {
  const TempFolder folder;
  for (const std::string start : {"", "abc"}) {
    put_file(folder.file("a"), to_bytes(start));
    const auto file = MappedFile::open(folder.file("a")).value();
    EXPECT_EQ(file->grown().value(), nullptr);
    add_to_file(folder.file("a"), "def");
    EXPECT_EQ(bytes_of(*file), to_bytes(start));
    EXPECT_TRUE(file->check());
    EXPECT_EQ(bytes_of(*file->grown().value()), to_bytes(start + "def"));
  }
}

TEST(MappedFile, WillNeedTakesAnyRange) {
  const TempFolder folder;
  put_file(folder.file("a"), Bytes(10'000));
  const auto file = MappedFile::open(folder.file("a")).value();
  file->will_need(0, UINT64_MAX);
  file->will_need(9'999, 1);
  file->will_need(10'000, 1);
  file->will_need(UINT64_MAX, UINT64_MAX);
  file->will_need(5'000, 0);
  EXPECT_FALSE(file->lost());
}

}  // namespace
}  // namespace headpond
