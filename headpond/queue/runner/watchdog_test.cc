// SPDX-License-Identifier: Apache-2.0
// What is said, and done, when elements stop to flow.
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/queue/sync/wait_host_internal.h"

namespace headpond::internal {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Stalls, LastAsLongAsTheOtherSideDoesNotMove) {
  Stall stall;
  EXPECT_EQ(stall.next_alarm(3, 1000, std::chrono::nanoseconds(60)), 1060);
  EXPECT_EQ(stall.next_alarm(3, 1050, std::chrono::nanoseconds(60)), 1060);
  stall.told = true;
  EXPECT_EQ(stall.next_alarm(3, 1060, std::chrono::nanoseconds(60)), 1060);
  EXPECT_EQ(stall.since, 1000);
  EXPECT_TRUE(stall.told);
  EXPECT_EQ(stall.next_alarm(4, 1061, std::chrono::nanoseconds(60)), 1121);
  EXPECT_EQ(stall.since, 1061);
  EXPECT_FALSE(stall.told);
}

// However slowly, elements that flow never let an alarm come.
TEST(Stalls, DoNotAgeWhileElementsFlow) {
  Stall stall;
  for (int64_t i = 0; i < 100; ++i) EXPECT_GT(stall.next_alarm(i, i * 59, std::chrono::nanoseconds(60)), (i + 1) * 59);
  EXPECT_EQ(stall.next_alarm(100, 5900, kForever), INT64_MAX);
}

TEST(Stalls, AreOverWhenNobodyWaitsForAsLongAsAnAlarmTakes) {
  Stall stall;
  EXPECT_EQ(stall.next_alarm(3, 1000, std::chrono::nanoseconds(60)), 1060);
  stall.told = true;
  stall.left = 1050;
  EXPECT_EQ(stall.next_alarm(3, 1109, std::chrono::nanoseconds(60)), 1060);
  EXPECT_EQ(stall.next_alarm(3, 1200, std::chrono::nanoseconds(60)), 1060) << "somebody waits all the time";
  EXPECT_TRUE(stall.told);
  stall.left = 1210;
  EXPECT_EQ(stall.next_alarm(3, 1270, std::chrono::nanoseconds(60)), 1330);
  EXPECT_EQ(stall.since, 1270);
  EXPECT_FALSE(stall.told);
}

constexpr auto kShort = milliseconds(20);
constexpr auto kLong = milliseconds(200);

// Gathers what is logged.
class Watching : public QueueTest {
 protected:
  Watching() {
    set_log_sink([this](LogLevel level, std::string_view line) {
      const std::lock_guard lock(mu_);
      if (line.find("no element") != std::string_view::npos) lines_.emplace_back(level, line);
    });
  }
  ~Watching() override { const EndOfReports end; }

  static QueueOptions watched(std::optional<std::chrono::nanoseconds> watchdog) {
    return {.capacity = 4, .dtypes = {i64}, .shapes = {Shape{}}, .name = "pond", .watchdog = watchdog};
  }
  std::vector<std::pair<LogLevel, std::string>> lines() {
    const std::lock_guard lock(mu_);
    return lines_;
  }
  void until_reported(size_t count) {
    eventually([&] { return lines().size() >= count; });
  }
  // A dequeue that waits for nothing else; returns a time at which it waited still.
  int64_t wait_until_reported(const Queue& queue, size_t count) {
    std::stop_source stop;
    auto waiting = later([&] { return queue.dequeue({.stop = stop.get_token()}); });
    until_reported(count);
    const int64_t waited = now_ns();
    stop.request_stop();
    const auto stopped = waiting.get();
    EXPECT_TRUE(!stopped && stopped.error().kind() == ErrorKind::Cancelled);
    return waited;
  }

 private:
  std::mutex mu_;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

TEST_F(Watching, AStallIsReportedOnceHoweverManyWait) {
  const FIFOQueue queue(watched(kShort));
  std::vector<std::future<Result<Element>>> waiting;
  waiting.push_back(later([&] {
    set_this_thread_name("trainer");
    return queue.dequeue();
  }));
  until_waiting(queue, 0, 1);
  std::stop_source stop;
  for (int i = 0; i < 3; ++i) waiting.push_back(later([&] { return queue.dequeue({.stop = stop.get_token()}); }));
  until_waiting(queue, 0, 4);
  until_reported(1);
  // Whoever gives up, it is the same stall all the time.
  std::this_thread::sleep_for(3 * kShort);
  stop.request_stop();
  for (size_t i = 1; i <= 3; ++i) EXPECT_FAILS(ErrorKind::Cancelled, waiting[i].get());
  std::this_thread::sleep_for(3 * kShort);
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0].first, LogLevel::warning);
  EXPECT_THAT(lines()[0].second,
              AllOf(HasSubstr("FIFOQueue 'pond': no element came in for "), HasSubstr("thread 'trainer' ("),
                    HasSubstr("waits in dequeue for 1 more"), HasSubstr("0 of 4 inside"),
                    HasSubstr("No QueueRunner fills it"), Not(HasSubstr("p50"))));
  ASSERT_TRUE(queue.enqueue(number(1)));
  EXPECT_TRUE(waiting[0].get());
}

TEST_F(Watching, AReportSaysHowLongEarlierCallsWaited) {
  const FIFOQueue queue(watched(kShort));
  auto first = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue(number(1)));
  ASSERT_TRUE(first.get());
  wait_for_reports();  // On a busy machine the first one waits for so long that it is reported, too.
  const size_t before = lines().size();
  auto second = later([&] { return queue.dequeue(); });
  until_reported(before + 1);
  ASSERT_TRUE(queue.enqueue(number(2)));
  EXPECT_TRUE(second.get());
  EXPECT_THAT(lines().back().second, AllOf(HasSubstr("Of 1 earlier calls that waited, the p50 is "),
                                           HasSubstr(" ms, the p99 "), HasSubstr("No QueueRunner fills it")));
}

TEST_F(Watching, ACallThatTakesOverAStallDoesNotTellItAgain) {
  for (bool was_soon = false; !was_soon;) {
    const FIFOQueue queue(watched(kLong));
    const size_t before = lines().size();
    const int64_t waited = wait_until_reported(queue, before + 1);
    const int64_t again = now_ns();
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = 2 * kLong}));
    // A machine that was too busy to let it take over proves nothing.
    was_soon = std::chrono::nanoseconds(again - waited) < kLong / 2;
    if (!was_soon) continue;
    EXPECT_EQ(lines().size(), before + 1);
    ASSERT_TRUE(queue.enqueue(number(1)));
    ASSERT_TRUE(queue.dequeue());
    wait_until_reported(queue, before + 2);
  }
}

TEST_F(Watching, ACallLongAfterTheLastOneThatWaitedBeginsAStallOfItsOwn) {
  const FIFOQueue queue(watched(kLong));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = kShort}));
  std::this_thread::sleep_for(kLong);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = kShort}));
  EXPECT_TRUE(lines().empty()) << lines()[0].second;
}

TEST_F(Watching, ElementsThatFlowAreNoStallEvenIfTheMinimumIsLongInComing) {
  for (bool was_even = false; !was_even;) {
    QueueOptions options = watched(kLong);
    options.capacity = 100;
    const size_t before = lines().size();
    const RandomShuffleQueue queue(options, 60);
    int64_t longest = 0;
    int64_t last = now_ns();
    auto taken = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 1);
    const int64_t begin = now_ns();
    for (int64_t i = 0; i < 61; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
      ASSERT_TRUE(queue.enqueue(number(i)));
      const int64_t now = now_ns();
      longest = std::max(longest, now - last);
      last = now;
    }
    EXPECT_TRUE(taken.get());
    EXPECT_GT(std::chrono::nanoseconds(last - begin), kLong);
    // A machine that was too busy to let elements flow proves nothing.
    was_even = std::chrono::nanoseconds(longest) < kLong / 2;
    if (was_even) {
      EXPECT_EQ(lines().size(), before) << lines().back().second;
    }
  }
}

TEST_F(Watching, AnEmptyWatchdogIsSilent) {
  const FIFOQueue silent(watched({}));
  const FIFOQueue control(watched(kShort));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, silent.dequeue({.timeout = 3 * kShort}));
  EXPECT_TRUE(lines().empty());
  wait_until_reported(control, 1);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(Watching, IsOnAtAMinuteAndRefusesNoTimeAtAll) {
  EXPECT_EQ(QueueOptions{}.watchdog, seconds(60));
  EXPECT_REFUSES("watchdog must be positive, got 0 ns; {} switches it off", FIFOQueue(watched(seconds(0))));
  QueueOptions options = watched(kShort);
  options.shared_name = "watched";
  const FIFOQueue first(options);
  options.watchdog = {};
  EXPECT_REFUSES("watchdog (s) 0.02, but was asked for with none", FIFOQueue(options));
}

TEST_F(Watching, AFullQueueThatNobodyEmptiesIsReportedAsANote) {
  QueueOptions options = watched(kShort);
  options.capacity = 1;
  const FIFOQueue queue(options);
  ASSERT_TRUE(queue.enqueue(number(1)));
  auto put = later([&] { return queue.enqueue(number(2)); });
  until_reported(1);
  ASSERT_TRUE(queue.dequeue());
  EXPECT_TRUE(put.get());
  EXPECT_EQ(lines()[0].first, LogLevel::info);
  EXPECT_THAT(lines()[0].second, AllOf(HasSubstr("FIFOQueue 'pond': no element was taken for "),
                                       HasSubstr("waits in enqueue for room; 1 of 1 inside")));
}

TEST_F(Watching, AReportSaysWhatEachProducerIsDoing) {
  const FIFOQueue raw({.capacity = 1, .dtypes = {i64}, .name = "raw"});
  const FIFOQueue queue(watched(kShort));
  std::atomic<bool> go = false;
  Coordinator coordinator;
  QueueRunner(queue,
              {[&](const std::stop_token&) -> Result<void> {
                 while (!go) std::this_thread::sleep_for(milliseconds(1));
                 return fail(ErrorKind::OutOfRange, "end");
               },
               [&](const std::stop_token&) -> Result<void> {
                 HEADPOND_TRY(raw.dequeue());
                 return {};
               },
               [](const std::stop_token&) -> Result<void> { return fail(ErrorKind::OutOfRange, "end of shard"); }})
      .start(coordinator);
  until_waiting(raw, 0, 1);
  // A stall more, until one was reported that began late enough.
  eventually([&] {
    if (!queue.enqueue(number(1)) || !queue.dequeue() || queue.dequeue({.timeout = 3 * kShort})) return false;
    const std::string last = lines().empty() ? "" : lines().back().second;
    return last.find("-0: in call 1") != std::string::npos && last.find("-2: ended") != std::string::npos;
  });
  EXPECT_THAT(lines().back().second,
              AllOf(HasSubstr("Producers: QueueRunnerThread-pond-0: in call 1 of its function; "),
                    HasSubstr("QueueRunnerThread-pond-1: waits in dequeue of 'raw'; "),
                    HasSubstr("QueueRunnerThread-pond-2: ended, OutOfRange: end of shard")));
  go = true;
  ASSERT_TRUE(raw.close(true));
  EXPECT_TRUE(coordinator.join());
}

// A runner whose own close_op leaves the queue open.
class Abandoned : public Watching {
 protected:
  void abandon(const Queue& queue) {
    QueueRunner(queue, {[queue, put = false](const std::stop_token&) mutable -> Result<void> {
                  if (std::exchange(put, true)) return fail(ErrorKind::OutOfRange, "end");
                  return queue.enqueue(number(1));
                }},
                {.close_op = [] { return Result<void>(); }})
        .start(coordinator_);
    EXPECT_TRUE(coordinator_.join());
    EXPECT_FALSE(queue.is_closed());
  }

  Coordinator coordinator_;
};

TEST_F(Abandoned, AQueueGivesWhatIsInsideThenFailsWithTheNamesOfThoseWhoEnded) {
  const FIFOQueue queue(watched(kShort));
  abandon(queue);
  EXPECT_TRUE(queue.dequeue());
  const int64_t begin = now_ns();
  EXPECT_FAILS_WITH(ErrorKind::FailedPrecondition,
                    "FIFOQueue 'pond' is not closed, but all its producers have ended: "
                    "QueueRunnerThread-pond-0: ended, OutOfRange: end",
                    queue.dequeue());
  EXPECT_GE(std::chrono::nanoseconds(now_ns() - begin), kShort);
  until_reported(1);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(Abandoned, AllWhoWaitFailAndTheQueueStaysUsable) {
  const FIFOQueue queue(watched(kShort));
  abandon(queue);
  std::vector<std::future<Result<Element>>> waiting;
  waiting.push_back(later([&] { return queue.dequeue_many(3); }));
  until_waiting(queue, 0, 1);
  for (int i = 0; i < 3; ++i) waiting.push_back(later([&] { return queue.dequeue_many(3); }));
  for (auto& each : waiting) EXPECT_FAILS(ErrorKind::FailedPrecondition, each.get());
  EXPECT_EQ(queue.size(), 1);
  ASSERT_TRUE(queue.enqueue(number(2)));
  EXPECT_EQ(values(*queue.dequeue_many(2)), (std::vector<int64_t>{1, 2}));
}

TEST_F(Abandoned, AProducerThatIsStillThereIsWaitedForAndSoIsANewOne) {
  const FIFOQueue queue(watched(kShort));
  abandon(queue);
  ASSERT_TRUE(queue.dequeue());
  EXPECT_FAILS(ErrorKind::FailedPrecondition, queue.dequeue());
  std::atomic<bool> go = false;
  QueueRunner(queue, {[&](const std::stop_token&) -> Result<void> {
                if (queue.is_closed()) return fail(ErrorKind::OutOfRange, "end");
                while (!go) std::this_thread::sleep_for(milliseconds(1));
                HEADPOND_TRY(queue.enqueue(number(2)));
                return queue.close();
              }})
      .start(coordinator_);
  auto taken = later([&] { return queue.dequeue(); });
  std::this_thread::sleep_for(4 * kShort);
  EXPECT_FALSE(is_done(taken));
  go = true;
  EXPECT_TRUE(taken.get());
  EXPECT_TRUE(coordinator_.join());
}

TEST_F(Abandoned, WhoComesLongAfterTheLastOneHasTheWholeTimeAgain) {
  const FIFOQueue queue(watched(kShort));
  abandon(queue);
  ASSERT_TRUE(queue.dequeue());
  EXPECT_FAILS(ErrorKind::FailedPrecondition, queue.dequeue());
  std::this_thread::sleep_for(2 * kShort);
  const int64_t begin = now_ns();
  EXPECT_FAILS(ErrorKind::FailedPrecondition, queue.dequeue());
  EXPECT_GE(std::chrono::nanoseconds(now_ns() - begin), kShort);
}

TEST_F(Abandoned, WithoutAWatchdogItIsWaitedFor) {
  const FIFOQueue queue(watched({}));
  abandon(queue);
  ASSERT_TRUE(queue.dequeue());
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = 3 * kShort}));
}

}  // namespace
}  // namespace headpond::internal
