// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/system/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace headpond::internal {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
int opened() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, ClosesWhatItHas) {
  const int fd = opened(), other = opened();
  {
    UniqueFd first(fd);
    UniqueFd second = std::move(first);
    EXPECT_EQ(second.get(), fd);
    second = UniqueFd(other);
    EXPECT_FALSE(is_open(fd));
    EXPECT_TRUE(is_open(other));
  }
  EXPECT_FALSE(is_open(other));
}

TEST(UniqueFd, LeavesOpenWhatItReleases) {
  const int fd = opened();
  {
    UniqueFd owner(fd);
    EXPECT_TRUE(owner);
    EXPECT_EQ(owner.release(), fd);
    EXPECT_FALSE(owner);
  }
  EXPECT_TRUE(is_open(fd));
  ::close(fd);
}

}  // namespace
}  // namespace headpond::internal
