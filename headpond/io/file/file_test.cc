// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "headpond/base/trace.h"
#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::get_file;
using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::AllOf;
using testing::HasSubstr;

TEST(ReadFile, GivesAllBytes) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  EXPECT_EQ(read_file(folder.file("a")).value(), to_bytes("abc"));
}

TEST(ReadFile, OfAnEmptyFileIsEmpty) {
  const TempFolder folder;
  put_file(folder.file("a"), {});
  EXPECT_TRUE(read_file(folder.file("a")).value().empty());
}

TEST(ReadFile, NamesAMissingFile) {
  const TempFolder folder;
  const Error error = read_file(folder.file("none")).error();
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_THAT(error.message(), AllOf(HasSubstr(folder.file("none")), HasSubstr("No such file"), HasSubstr("ENOENT")));
}

TEST(ReadFile, RefusesAFolderAndADevice) {
  const TempFolder folder;
  const Error error = read_file(folder.path()).error();
  EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(error.message(), folder.path() + " is a folder");
  EXPECT_EQ(read_file("/dev/zero").error().kind(), ErrorKind::FailedPrecondition);
}

TEST(ReadFile, DoesNotWaitForAPipeThatNobodyWritesTo) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder.file("pipe")).error().kind(), ErrorKind::FailedPrecondition);
}

TEST(ReadFile, NamesAMissingPermission) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  ASSERT_EQ(chmod(folder.file("a").c_str(), 0), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto read = read_file(folder.file("a"));
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(read.error().message(), HasSubstr("EACCES"));
}

TEST(ReadFile, RefusesMoreThanTheLimit) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  EXPECT_TRUE(read_file(folder.file("a"), 3));
  EXPECT_EQ(read_file(folder.file("a"), 2).error().kind(), ErrorKind::ResourceExhausted);
}

TEST(ReadFileOfSize, GivesTheBytesOfAFileOfThisSizeOnly) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  put_file(folder.file("empty"), {});
  for (const size_t size : {0, 2, 3, 4}) {
    std::vector<std::byte> to(size);
    EXPECT_EQ(read_file_of_size(folder.file("a"), to).value(), size == 3) << size;
    EXPECT_EQ(read_file_of_size(folder.file("empty"), to).value(), size == 0) << size;
    if (size == 3) {
      EXPECT_EQ(to, to_bytes("abc"));
    }
  }
}

TEST(ReadFileOfSize, TakesAShortReadForAnotherSizeAndReportsErrors) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  std::vector<std::byte> to(3);
  {
    const FaultInjection hook([](std::string_view call) { return call == "read" ? Fault{.bytes = 2} : Fault{}; });
    EXPECT_FALSE(read_file_of_size(folder.file("a"), to).value());
  }
  {
    const FaultInjection hook([](std::string_view call) { return call == "read" ? Fault{.error = EIO} : Fault{}; });
    EXPECT_EQ(read_file_of_size(folder.file("a"), to).error().kind(), ErrorKind::DataLoss);
  }
  EXPECT_EQ(read_file_of_size(folder.file("none"), to).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(read_file_of_size(folder.path(), to).error().kind(), ErrorKind::FailedPrecondition);
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_file_of_size(folder.file("pipe"), to).value());
}

TEST(ReadFileHead, ReadsNoMoreThanItWasAskedFor) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abcde"));
  std::vector<std::byte> to(3);
  size_t read = 0;
  const FaultInjection hook([&read](std::string_view call) {
    read += call == "pread" ? 1 : 0;
    return Fault{};
  });
  const FileHead head = read_file_head(folder.file("a"), to).value();
  EXPECT_EQ(head.bytes, 3U);
  EXPECT_EQ(head.file_bytes, 5U);
  EXPECT_EQ(to, to_bytes("abc"));
  EXPECT_EQ(read, 1U);
  to.resize(9);
  EXPECT_EQ(read_file_head(folder.file("a"), to).value().bytes, 5U);
  EXPECT_EQ(read_file_head(folder.file("none"), to).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(read_file_head(folder.path(), to).error().kind(), ErrorKind::FailedPrecondition);
}

TEST(FileReader, SurvivesShortReadsAndSignals) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abcdefg"));
  int reads = 0;
  const FaultInjection fault([&](std::string_view call) {
    if (call == "read" && ++reads % 2 == 1) return Fault{.error = EINTR};
    return Fault{.bytes = 2};
  });
  EXPECT_EQ(read_file(folder.file("a")).value(), to_bytes("abcdefg"));
  EXPECT_EQ(reads, 8);
}

TEST(FileReader, ATraceTellsWhatIsOpenedAndRead) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abcdef"));
  trace::start();
  auto reader = open_file_reader(folder.file("a"), 2);
  std::array<std::byte, 3> bytes = {};
  EXPECT_EQ(reader.value()->read(bytes).value(), 3U);
  trace::stop();
  const auto threads = trace::collect();
  ASSERT_EQ(threads.size(), 1U);
  std::vector<std::string> told;
  for (const trace::Event& event : threads[0].events) {
    const auto [file, offset, size, none] = event.args.values;
    told.push_back(
        fmt::format("{} {} {} {}", event.name, std::bit_cast<const char*>(file) == folder.file("a"), offset, size));
  }
  EXPECT_THAT(told, testing::ElementsAre("open true 2 6", "read true 2 3"));
}

TEST(FileReader, ReportsAFileThatShrinks) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abcdef"));
  auto reader = open_file_reader(folder.file("a")).value();
  std::array<std::byte, 3> part;
  EXPECT_EQ(reader->read(part).value(), 3U);
  ASSERT_EQ(truncate(folder.file("a").c_str(), 4), 0);
  EXPECT_EQ(reader->read(part).value(), 1U);
  const Error error = reader->read(part).error();
  EXPECT_EQ(error.kind(), ErrorKind::DataLoss);
  EXPECT_EQ(error.message(), folder.file("a") + " shrank while it was read: 6 bytes when opened, now it ends at 4");
}

TEST(FileReader, BeginsAtAnyOffsetUpToTheEnd) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  for (uint64_t offset = 0; offset <= 3; ++offset) {
    auto reader = open_file_reader(folder.file("a"), offset).value();
    EXPECT_EQ(reader->left_at_most(), 3 - offset);
    std::vector<std::byte> bytes(5);
    bytes.resize(read_fully(*reader, bytes).value());
    EXPECT_EQ(bytes, to_bytes(std::string_view("abc").substr(offset)));
  }
  EXPECT_EQ(open_file_reader(folder.file("a"), 4).error().kind(), ErrorKind::DataLoss);
  const FaultInjection no_seek([](std::string_view call) { return Fault{.error = call == "lseek" ? EIO : 0}; });
  EXPECT_FALSE(open_file_reader(folder.file("a"), 1));
}

TEST(FileReader, DoesNotSeeWhatIsAppendedLater) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("abc"));
  auto reader = open_file_reader(folder.file("a")).value();
  put_file(folder.file("a"), to_bytes("abcdef"));
  std::array<std::byte, 9> part;
  EXPECT_EQ(read_fully(*reader, part).value(), 3U);
  EXPECT_EQ(reader->left_at_most(), 0U);
}

TEST(MemoryReader, GivesItsBytesOnce) {
  const auto bytes = to_bytes("abcde");
  const auto reader = make_memory_reader("memory", bytes);
  std::array<std::byte, 4> part;
  EXPECT_EQ(reader->left_at_most(), 5U);
  EXPECT_EQ(reader->read(part).value(), 4U);
  EXPECT_EQ(reader->left_at_most(), 1U);
  EXPECT_EQ(reader->read(part).value(), 1U);
  EXPECT_EQ(part[0], std::byte{'e'});
  EXPECT_EQ(reader->read(part).value(), 0U);
}

TEST(StreamReader, ReadsAPipeToItsEndWithoutKnowingItsLength) {
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(write(ends[1], "abc", 3), 3);
  close(ends[1]);
  const auto reader = open_stream_reader(fmt::format("/proc/self/fd/{}", ends[0])).value();
  EXPECT_EQ(reader->left_at_most(), UINT64_MAX);
  std::array<std::byte, 9> part;
  EXPECT_EQ(reader->read({}).value(), 0U);
  EXPECT_EQ(read_fully(*reader, part).value(), 3U);
  close(ends[0]);
  EXPECT_EQ(open_stream_reader("-").value()->name(), "standard input");
  EXPECT_EQ(open_stream_reader("/no/such").error().kind(), ErrorKind::NotFound);
}

TEST(JoinedReader, GivesTheStartAgainAndAddsNothingToABoundThatIsUnknown) {
  const auto rest = to_bytes("de");
  const auto reader = make_joined_reader(to_bytes("abc"), make_memory_reader("memory", rest));
  EXPECT_EQ(reader->left_at_most(), 5U);
  std::array<std::byte, 9> all;
  EXPECT_EQ(reader->read(std::span(all).first(2)).value(), 2U);
  EXPECT_EQ(read_fully(*reader, std::span(all).subspan(2)).value(), 3U);
  EXPECT_EQ(all[4], std::byte{'e'});
  EXPECT_EQ(reader->name(), "memory");
  EXPECT_EQ(make_joined_reader(rest, open_stream_reader("/dev/null").value())->left_at_most(), UINT64_MAX);
}

TEST(WriteFileAtomically, JoinsThePiecesAndReplacesTheOldFile) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.file("a"), {to_bytes("old and longer")}));
  ASSERT_TRUE(write_file_atomically(folder.file("a"), {to_bytes("ab"), {}, to_bytes("c")}));
  EXPECT_EQ(get_file(folder.file("a")), to_bytes("abc"));
  EXPECT_EQ(folder.count(), 1U);
}

TEST(WriteFileAtomically, HonoursTheUmask) {
  const TempFolder folder;
  const mode_t old = umask(027);
  const auto written = write_file_atomically(folder.file("a"), {});
  umask(old);
  ASSERT_TRUE(written);
  struct stat status = {};
  ASSERT_EQ(stat(folder.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(WriteFileAtomically, IntoAMissingFolderNamesTheFile) {
  const Error error = write_file_atomically("/nowhere/at/all", {}).error();
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_THAT(error.message(), HasSubstr("/nowhere/at/all"));
}

// Fails each system call in turn: the old file stays, nothing else is left, and afterwards it works.
TEST(WriteFileAtomically, LeavesTheOldFileWhenAnySystemCallFails) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.file("a"), {to_bytes("old")}));
  bool reached_the_end = false;
  for (int failing = 0; !reached_the_end; ++failing) {
    int calls = 0;
    std::string failed;
    std::optional<Result<void>> written;
    {
      const FaultInjection fault([&](std::string_view call) {
        if (calls++ != failing) return Fault{.bytes = 2};
        failed = call;
        return Fault{.error = ENOSPC};
      });
      written = write_file_atomically(folder.file("a"), {to_bytes("new content")});
    }
    reached_the_end = failed.empty();
    EXPECT_EQ(written->has_value(), reached_the_end) << failed;
    EXPECT_EQ(folder.count(), 1U) << failed;
    if (reached_the_end) break;
    EXPECT_EQ(written->error().kind(), ErrorKind::ResourceExhausted) << failed;
    // The rename is the moment: what fails later reports that the new file may not survive a power cut.
    const auto now = get_file(folder.file("a"));
    if (now == to_bytes("new content")) break;
    EXPECT_EQ(now, to_bytes("old")) << failed;
    ASSERT_LT(failing, 50);
  }
  EXPECT_EQ(get_file(folder.file("a")), to_bytes("new content"));
}

class CacheFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    keep("XDG_CACHE_HOME", cache_);
    keep("HOME", home_);
  }
  void TearDown() override {
    give_back("XDG_CACHE_HOME", cache_);
    give_back("HOME", home_);
  }

 private:
  static void keep(const char* variable, std::optional<std::string>& to) {
    if (const char* value = std::getenv(variable)) to = value;
  }
  static void give_back(const char* variable, const std::optional<std::string>& value) {
    value ? setenv(variable, value->c_str(), 1) : unsetenv(variable);
  }
  std::optional<std::string> cache_, home_;
};

TEST_F(CacheFolder, IsTheUsersChoiceElseBelowHome) {
  setenv("HOME", "/h", 1);
  setenv("XDG_CACHE_HOME", "/c", 1);
  EXPECT_EQ(cache_folder().value(), "/c/headpond");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder().value(), "/h/.cache/headpond");
  setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(cache_folder().value(), "/h/.cache/headpond");
}

TEST_F(CacheFolder, WithoutEitherVariableIsAnErrorThatNamesThem) {
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  const Error error = cache_folder().error();
  EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("XDG_CACHE_HOME"), HasSubstr("HOME")));
}

}  // namespace
}  // namespace headpond
