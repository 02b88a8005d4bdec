// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>

#include <optional>

#include "headpond/io/file/kept_fd_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(KeptFd, IsCountedUntilItIsClosed) {
  const RestoredFdLimit restored;
  const test::TempFolder folder;
  const auto open = [&] { return KeptFd(open_file(folder.path(), O_RDONLY | O_DIRECTORY).value()); };
  most_kept_fds = 0;
  while (KeptFd::are_too_many()) ++most_kept_fds;  // Others that are open.
  std::optional<KeptFd> one = open();
  EXPECT_TRUE(KeptFd::are_too_many());
  KeptFd moved = std::move(*one);
  one.reset();
  EXPECT_TRUE(KeptFd::are_too_many()) << "it was only moved";
  const int fd = moved.file().get();
  EXPECT_TRUE(moved && is_open(fd));
  moved.close();
  EXPECT_FALSE(KeptFd::are_too_many());
  EXPECT_FALSE(moved || is_open(fd));
  moved.close();
  {
    KeptFd other = open();
    moved = std::move(other);
    EXPECT_TRUE(KeptFd::are_too_many());
  }
  moved = KeptFd();
  EXPECT_FALSE(KeptFd::are_too_many());
}

}  // namespace
}  // namespace headpond::internal
