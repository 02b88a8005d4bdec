// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/base/host_stack.h"
#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/late_tasks_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kBegin = 1'000 * kSecond;

TEST(LateTasks, ATaskIsLateOnceAfterItWasSeenForSoLong) {
  const Task task;
  RunningTask running;
  EXPECT_FALSE(LateTasks::is_late(running, kBegin + 100 * kSecond)) << "it has none";
  running.task = &task;
  EXPECT_FALSE(LateTasks::is_late(running, kBegin)) << "seen first";
  EXPECT_FALSE(LateTasks::is_late(running, kBegin + 2 * kSecond));
  EXPECT_TRUE(LateTasks::is_late(running, kBegin + 3 * kSecond));
  EXPECT_FALSE(LateTasks::is_late(running, kBegin + 9 * kSecond)) << "it was said";
}

TEST(LateTasks, ReportsComeEverLessOften) {
  LateTasks late;
  EXPECT_TRUE(late.is_due(kBegin));
  EXPECT_FALSE(late.is_due(kBegin + kSecond / 2));
  EXPECT_TRUE(late.is_due(kBegin + kSecond));
  int64_t now = kBegin + 2 * kSecond;
  for (const int64_t pause : {10, 20, 40}) {
    late.reported(now);
    EXPECT_FALSE(late.is_due(now + (pause - 1) * kSecond));
    now += pause * kSecond;
    EXPECT_TRUE(late.is_due(now));
  }
}

TEST(LateTasks, TheLogHasAFewOfManyThreadsAndThenTheirStacks) {
  std::vector<std::string> lines;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  set_host_stack([&](uint64_t thread, const std::string& name) { lines.push_back(name + std::to_string(thread)); });
  std::vector<LateTask> late;
  for (uint64_t i = 0; i < 7; ++i) late.push_back({"thread ", "map does not return", i, this_thread_id()});
  log_late_tasks(3'100'000'000, late);
  set_host_stack({});
  set_log_sink(before);
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_THAT(lines[0], testing::StartsWith("Loader: the program has waited for 3.1 s: map does not return; "));
  EXPECT_THAT(lines[0], testing::EndsWith(" of the system)"));
  EXPECT_THAT(lines[3], testing::EndsWith("; 3 other threads do not return either"));
  EXPECT_EQ(lines[7], "thread 3");
}

}  // namespace
}  // namespace headpond::internal
