// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/wait_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/thread.h"

namespace headpond {
namespace {

constexpr int64_t kMs = 1'000'000;

int64_t fake_time = 1;
int64_t fake_clock() { return fake_time; }
void pass(int64_t ns) { fake_time += ns; }

TEST(WaitAccount, HasNothingToSayBeforeTheFirstCall) {
  const WaitAccount account;
  EXPECT_EQ(account.summary().wait_share, 0);
  EXPECT_EQ(account.summary().calls, 0);
  EXPECT_EQ(account.summary().p99_ns, 0);
}

TEST(WaitAccount, TellsWaitFromWork) {
  WaitAccount account("wait", fake_clock);
  for (int i = 0; i < 10; ++i) {
    account.measure([] { pass(1 * kMs); });
    pass(3 * kMs);
  }
  account.pause();
  pass(1000 * kMs);
  const WaitSummary summary = account.summary();
  EXPECT_EQ(summary.calls, 10);
  EXPECT_EQ(summary.wait_ns, 10 * kMs);
  EXPECT_EQ(summary.work_ns, 30 * kMs);
  EXPECT_DOUBLE_EQ(summary.wait_share, 0.25);
}

TEST(WaitAccount, KnowsTheLastStep) {
  WaitAccount account("wait", fake_clock);
  account.measure([] { pass(5); });
  EXPECT_EQ(account.last().wait_ns, 5);
  EXPECT_EQ(account.last().work_ns, 0);
  pass(7);
  account.measure([] { pass(2); });
  EXPECT_EQ(account.last().wait_ns, 2);
  EXPECT_EQ(account.last().work_ns, 7);
}

TEST(WaitAccount, CountsNothingDuringAPause) {
  WaitAccount account("wait", fake_clock);
  account.measure([] { pass(10); });
  account.pause();
  account.pause();
  pass(500);
  account.measure([] { pass(10); });
  EXPECT_EQ(account.last().work_ns, 0);
  EXPECT_EQ(account.summary().work_ns, 0);
  EXPECT_EQ(account.summary().wait_ns, 20);
}

TEST(WaitAccount, CountsTheStepInProgress) {
  WaitAccount account("wait", fake_clock);
  account.measure([&] {
    pass(30);
    EXPECT_EQ(account.summary().wait_ns, 30);
    EXPECT_EQ(account.summary().wait_share, 1);
    EXPECT_EQ(account.summary().calls, 0);
  });
  pass(10);
  EXPECT_EQ(account.summary().work_ns, 10);
  EXPECT_DOUBLE_EQ(account.summary().wait_share, 0.75);
}

TEST(WaitAccount, KeepsTheFirstWaitAndTheQuantiles) {
  WaitAccount account("wait", fake_clock);
  account.measure([] { pass(2000 * kMs); });
  for (int i = 0; i < 999; ++i) account.measure([&] { pass(i < 900 ? 2 * kMs : 50 * kMs); });
  const WaitSummary summary = account.summary();
  EXPECT_EQ(summary.first_wait_ns, 2000 * kMs);
  EXPECT_GE(summary.p50_ns, 2 * kMs);
  EXPECT_LE(summary.p50_ns, 2 * kMs * 9 / 8);
  EXPECT_GE(summary.p99_ns, 50 * kMs);
  EXPECT_LE(summary.p99_ns, 50 * kMs * 9 / 8);
}

TEST(WaitAccount, ReturnsWhatTheCallReturns) {
  WaitAccount account;
  std::string text = "batch";
  EXPECT_EQ(account.measure([] { return 42; }), 42);
  std::string& same = account.measure([&]() -> std::string& { return text; });
  EXPECT_EQ(&same, &text);
}

TEST(WaitAccount, CountsACallThatThrows) {
  WaitAccount account("wait", fake_clock);
  EXPECT_THROW(account.measure([] {
    pass(4);
    throw std::runtime_error("no data");
  }),
               std::runtime_error);
  EXPECT_EQ(account.summary().wait_ns, 4);
  EXPECT_EQ(account.summary().calls, 1);
}

TEST(WaitAccount, WritesWaitSpans) {
  trace::start();
  WaitAccount account("wait/batch");
  account.measure([] {});
  trace::stop();
  const auto threads = trace::collect();
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_EQ(threads[0].events.size(), 1U);
  EXPECT_STREQ(threads[0].events[0].name, "wait/batch");
  EXPECT_EQ(threads[0].events[0].category, trace::Category::wait);
}

/// Median over steps of how far the measured wait is from a stopwatch around the same call, beyond 1 % of it. The
/// median, because a thread may lose its core between two clock reads.
int64_t median_disagreement_ns(const std::vector<int64_t>& measured, const std::vector<int64_t>& stopwatch) {
  std::vector<int64_t> beyond;
  for (size_t i = 0; i < measured.size(); ++i) {
    beyond.push_back(std::abs(measured[i] - stopwatch[i]) - stopwatch[i] / 100);
  }
  std::nth_element(beyond.begin(), beyond.begin() + static_cast<std::ptrdiff_t>(beyond.size() / 2), beyond.end());
  return beyond[beyond.size() / 2];
}

TEST(WaitAccount, AgreesWithAStopwatchAroundTheCall) {
  WaitAccount account;
  std::vector<int64_t> measured;
  std::vector<int64_t> stopwatch;
  std::vector<int64_t> without_the_call;  // What an account would say that starts its clock after the call.
  for (int step = 0; step < 41; ++step) {
    const int64_t start = now_ns();
    account.measure([&] { std::this_thread::sleep_for(std::chrono::microseconds(step * 50)); });
    stopwatch.push_back(now_ns() - start);
    measured.push_back(account.last().wait_ns);
    without_the_call.push_back(0);
  }
  EXPECT_LT(median_disagreement_ns(measured, stopwatch), kMs / 10);
  EXPECT_GT(median_disagreement_ns(without_the_call, stopwatch), kMs / 10);
}

TEST(WaitAccount, MayBeReadWhileTheConsumerRuns) {
  WaitAccount account;
  Thread consumer("consumer", [&] {
    for (int i = 0; i < 2000; ++i) account.measure([] {});
    account.pause();
  });
  int64_t calls = 0;
  while (calls < 2000) {
    const int64_t now = account.summary().calls;
    EXPECT_GE(now, calls);
    calls = now;
    std::this_thread::yield();
  }
  consumer.join();
  EXPECT_EQ(account.summary().calls, 2000);
}

}  // namespace
}  // namespace headpond
