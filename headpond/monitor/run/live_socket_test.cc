// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "headpond/base/clock.h"
#include "headpond/monitor/run/live_socket_internal.h"

namespace headpond::internal {
namespace {

namespace fs = std::filesystem;

class LiveSocketTest : public testing::Test {
 protected:
  LiveSocketTest() { fs::create_directory(folder_); }
  ~LiveSocketTest() override { fs::remove_all(folder_); }
  const std::string folder_ = testing::TempDir() + "headpond_live_socket_" + std::to_string(now_ns());
  const std::string path_ = folder_ + "/live.sock";
};

TEST_F(LiveSocketTest, OnlyItsUserMayConnect) {
  const auto socket = value_or_throw(LiveSocket::open(folder_));
  struct stat file {};
  ASSERT_EQ(lstat(path_.c_str(), &file), 0);
  EXPECT_TRUE(S_ISSOCK(file.st_mode));
  EXPECT_EQ(file.st_mode & 0777, 0600U);
}

TEST_F(LiveSocketTest, OneThatWasLeftIsReplaced) {
  auto left = value_or_throw(LiveSocket::open(folder_));
  auto next = value_or_throw(LiveSocket::open(folder_));
  left.reset();
  EXPECT_TRUE(fs::exists(path_)) << "it is of the next one";
  next.reset();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(LiveSocketTest, WhatIsInTheWayStays) {
  std::ofstream(path_) << "mine";
  EXPECT_FALSE(LiveSocket::open(folder_));
  EXPECT_EQ(fs::file_size(path_), 4U);
}

TEST_F(LiveSocketTest, WithoutAFolderThereIsNone) { EXPECT_FALSE(LiveSocket::open(folder_ + "/nowhere")); }

TEST_F(LiveSocketTest, AGreetingIsMadeOnlyForSomebody) {
  const auto socket = value_or_throw(LiveSocket::open(folder_));
  socket->welcome([]() -> std::string {
    ADD_FAILURE() << "nobody has connected";
    return "";
  });
}

}  // namespace
}  // namespace headpond::internal
