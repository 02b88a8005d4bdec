// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>
#include <memory>

namespace headpond {
namespace {

TEST(Thread, RunsItsBodyUnderItsName) {
  std::string inside;
  std::array<char, 16> system{};
  {
    Thread thread("QueueRunnerThread-images-0", [&] {
      inside = this_thread_name();
      pthread_getname_np(pthread_self(), system.data(), system.size());
    });
    EXPECT_EQ(thread.name(), "QueueRunnerThread-images-0");
    EXPECT_TRUE(thread.joinable());
  }
  EXPECT_EQ(inside, "QueueRunnerThread-images-0");
  EXPECT_STREQ(system.data(), "QueueRunnerThre");
}

TEST(Thread, ADetachedOneGoesOnAlone) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ended = done->get_future();
  Thread thread("alone", [done] { done->set_value(); });
  thread.detach();
  EXPECT_FALSE(thread.joinable());
  ended.get();
}

TEST(Thread, TheFirstThreadIsMain) { EXPECT_EQ(this_thread_name(), "main"); }

TEST(Thread, EveryThreadHasItsOwnId) {
  int other = 0;
  Thread("other", [&] { other = this_thread_id(); }).join();
  EXPECT_NE(other, this_thread_id());
}

TEST(Thread, ForksAboveAProcessAreCounted) {
  const int before = forks_above();
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(forks_above() - before);
    int status = -1;
    _exit(waitpid(grandchild, &status, 0) == grandchild && forks_above() == before + 1 ? WEXITSTATUS(status) : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(forks_above(), before);
}

TEST(Thread, ADefaultOneIsNotJoinable) { EXPECT_FALSE(Thread().joinable()); }

}  // namespace
}  // namespace headpond
