// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
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

// The exit status of a forked child that returns `run()`.
int in_child(const std::function<int()>& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HomeProcess, IsThatInWhichTheObjectWasMade) {
  const HomeProcess ours;
  EXPECT_TRUE(ours.is_here());
  EXPECT_EQ(in_child([&] {
              const HomeProcess childs;
              if (ours.is_here() || !childs.is_here()) return 1;
              return in_child([&] { return ours.is_here() || childs.is_here() || !HomeProcess().is_here() ? 1 : 0; });
            }),
            0);
  EXPECT_TRUE(ours.is_here());
}

TEST(Thread, ADefaultOneIsNotJoinable) { EXPECT_FALSE(Thread().joinable()); }

}  // namespace
}  // namespace headpond
