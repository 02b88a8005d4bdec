// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using headpond::test::get_file;
using headpond::test::TempFolder;
using headpond::test::to_bytes;
using testing::MatchesRegex;

TEST(SystemError, SaysWhatWhereAndWhy) {
  const Error error = system_error("open", "/x/y", ENOENT);
  EXPECT_EQ(error.to_string(), "NotFound: cannot open /x/y: No such file or directory (ENOENT)");
}

TEST(SystemError, HasTheKindThatTheCallerCanActOn) {
  const std::pair<int, ErrorKind> table[] = {
      {ENOENT, ErrorKind::NotFound},
      {ENOTDIR, ErrorKind::NotFound},
      {EACCES, ErrorKind::FailedPrecondition},
      {EPERM, ErrorKind::FailedPrecondition},
      {EISDIR, ErrorKind::FailedPrecondition},
      {EROFS, ErrorKind::FailedPrecondition},
      {EIO, ErrorKind::DataLoss},
      {ENOSPC, ErrorKind::ResourceExhausted},
      {EMFILE, ErrorKind::ResourceExhausted},
      {ENOMEM, ErrorKind::ResourceExhausted},
      {EDQUOT, ErrorKind::ResourceExhausted},
      {EAGAIN, ErrorKind::ResourceExhausted},
      {ETIMEDOUT, ErrorKind::DeadlineExceeded},
      {ESTALE, ErrorKind::FailedPrecondition},
      {ENOTCONN, ErrorKind::FailedPrecondition},
  };
  for (const auto& [number, kind] : table) EXPECT_EQ(system_error("read", "/x", number).kind(), kind) << number;
}

TEST(SystemError, KeepsItsNumber) {
  const FaultInjection fault([](std::string_view) { return Fault{.error = ESTALE}; });
  const auto opened = open_file("/dev/null", O_RDONLY);
  EXPECT_EQ(opened.error().os_error(), ESTALE);
  EXPECT_TRUE(opened.error().is_transient());
}

TEST(FileTimes, BeyondWhatNanosecondsCanCountAreTheLastOnes) {
  EXPECT_EQ(nanoseconds_since_1970(2, 5), 2'000'000'005);
  EXPECT_EQ(nanoseconds_since_1970(-2, 5), -1'999'999'995);
  EXPECT_EQ(nanoseconds_since_1970(int64_t{1} << 34, 0), INT64_MAX) << "the year 2514";
  EXPECT_EQ(nanoseconds_since_1970(9'223'372'036, 999'999'999), INT64_MAX);
  EXPECT_EQ(nanoseconds_since_1970(-(int64_t{1} << 34), 0), INT64_MIN);
  const TempFolder folder;
  headpond::test::put_file(folder.file("a"), {});
  const timespec late[2] = {{int64_t{1} << 34, 0}, {int64_t{1} << 34, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, folder.file("a").c_str(), late, 0), 0);
  const auto facts = examine_path(folder.file("a"));
  ASSERT_TRUE(facts) << facts.error();
  EXPECT_GT(facts->modified_ns, int64_t{7'000'000'000} * 1'000'000'000) << "2191 or later: the file system may clamp";
}

TEST(WriteAll, ReportsAFullDisk) {
  const UniqueFd full = open_file("/dev/full", O_WRONLY).value();
  const Error error = write_all(full, to_bytes("a"), "/dev/full").error();
  EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted);
}

TEST(WriteAll, GoesOnAfterShortWritesAndSignals) {
  const TempFolder folder;
  std::string path = folder.file("a.XXXXXX");
  UniqueFd file = make_unique_file(path).value();
  int writes = 0;
  const FaultInjection fault([&](std::string_view call) {
    if (call == "write" && ++writes % 2 == 1) return Fault{.error = EINTR};
    return Fault{.bytes = 3};
  });
  EXPECT_TRUE(write_all(file, to_bytes("abcdefgh"), path));
  EXPECT_TRUE(close_file(file, path));
  EXPECT_EQ(get_file(path), to_bytes("abcdefgh"));
  EXPECT_EQ(writes, 6);
}

TEST(MakeUnique, ReplacesThePatternAndNeverReturnsAnExistingFile) {
  const TempFolder folder;
  std::string a = folder.file("a.XXXXXX"), b = a, c = a;
  EXPECT_TRUE(make_unique_file(a));
  EXPECT_TRUE(make_unique_file(b));
  EXPECT_TRUE(make_unique_folder(c));
  EXPECT_EQ(folder.count(), 3U);
  EXPECT_THAT(a, MatchesRegex(".*/a[.][0-9a-f]+"));
}

TEST(MakeFolders, MakesThoseAboveAndAcceptsExistingOnes) {
  const TempFolder folder;
  EXPECT_TRUE(make_folders(folder.file("x/y")));
  EXPECT_TRUE(make_folders(folder.file("x/y")));
  headpond::test::put_file(folder.file("z"), {});
  EXPECT_EQ(make_folders(folder.file("z/y")).error().kind(), ErrorKind::NotFound);
}

TEST(UniqueFd, MovesItsOwnership) {
  UniqueFd a = open_file("/dev/null", O_RDONLY).value();
  const int fd = a.get();
  UniqueFd b = std::move(a);
  EXPECT_EQ(b.get(), fd);
  EXPECT_FALSE(UniqueFd());
}

TEST(CloseFile, ReportsWhatTheSystemCouldNotWrite) {
  UniqueFd file = open_file("/dev/null", O_RDONLY).value();
  const FaultInjection fault([](std::string_view) { return Fault{.error = EIO}; });
  EXPECT_EQ(close_file(file, "/x").error().kind(), ErrorKind::DataLoss);
  EXPECT_FALSE(file);
}

}  // namespace
}  // namespace headpond::internal
