// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/base/interrupt/host_stack.h"
#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/watch/late_tasks_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kBegin = 1'000 * kSecond;

TEST(LateTasks, ATaskIsLateAfterItWasSeenForSoLongUntilItIsReported) {
  const Task task;
  RunningTask running;
  EXPECT_FALSE(LateTasks::is_late(running, kBegin + 100 * kSecond)) << "it has none";
  running.task = &task;
  EXPECT_FALSE(LateTasks::is_late(running, kBegin)) << "seen first";
  EXPECT_FALSE(LateTasks::is_late(running, kBegin + kSecond));
  EXPECT_TRUE(LateTasks::is_late(running, kBegin + 2 * kSecond));
  EXPECT_TRUE(LateTasks::is_late(running, kBegin + 2 * kSecond)) << "nobody has said so yet";
  running.is_reported = true;
  EXPECT_FALSE(LateTasks::is_late(running, kBegin + 9 * kSecond));
}

TEST(LateTasks, LooksComeEachSecond) {
  LateTasks late;
  EXPECT_TRUE(late.is_due(kBegin));
  EXPECT_FALSE(late.is_due(kBegin + kSecond / 2));
  EXPECT_TRUE(late.is_due(kBegin + kSecond));
  late.reported(kBegin + kSecond);
  EXPECT_TRUE(late.is_due(kBegin + 2 * kSecond)) << "what begins now is seen";
}

TEST(LateTasks, NothingIsSaidToAProgramThatNeverWaitsLongAtOnce) {
  const LateTasks late;
  EXPECT_FALSE(late.may_report(kBegin, 0));
  EXPECT_FALSE(late.may_report(kBegin, kSecond)) << "functions of 3 s, and batches that come in between";
  EXPECT_TRUE(late.may_report(kBegin, 2 * kSecond));
}

TEST(LateTasks, ReportsComeEverLessOftenButEachMinute) {
  LateTasks late;
  int64_t now = kBegin;
  for (const int64_t pause : {10, 20, 40, 60, 60}) {
    EXPECT_TRUE(late.may_report(now, 2 * kSecond));
    late.reported(now);
    EXPECT_FALSE(late.may_report(now + (pause - 1) * kSecond, 2 * kSecond));
    now += pause * kSecond;
  }
  now += 100 * kSecond;
  late.reported(now);
  EXPECT_TRUE(late.may_report(now + 10 * kSecond, 2 * kSecond)) << "after a quiet time as at first";
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
