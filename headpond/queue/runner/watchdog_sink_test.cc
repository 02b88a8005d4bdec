// SPDX-License-Identifier: Apache-2.0
// What a log sink can do with the queue whose report it hears, while the call that is reported waits there.
#include <gmock/gmock.h>

#include <atomic>
#include <latch>

#include "headpond/base/log.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"

namespace headpond::internal {
namespace {

constexpr auto kShort = milliseconds(20);

class Sinks : public QueueTest {
 protected:
  static FIFOQueue watched(const std::string& name, int64_t capacity = 64) {
    QueueOptions options = scalars(capacity);
    options.name = name;
    options.watchdog = kShort;
    return FIFOQueue(options);
  }
  // Calls `react` when the first line says that elements of `queue` have stopped to flow.
  void at_report(const Queue& queue, std::function<void()> react) {
    set_log_sink(
        [this, name = "'" + queue.name() + "': no element", react = std::move(react)](LogLevel, std::string_view line) {
          if (reacted_ || line.find(name) == std::string_view::npos) return;
          react();
          reacted_ = true;
        });
  }
  // Puts until the queue is full, then waits: a thread that has put so often in a row owns the put side's lock.
  static std::future<Result<void>> fill(const Queue& queue) {
    return later([&queue]() -> Result<void> {
      while (true) HEADPOND_TRY(queue.enqueue(number(1)));
    });
  }

  std::atomic<bool> reacted_ = false;
};

TEST_F(Sinks, MayCloseAFullQueue) {
  for (const int64_t capacity : {1, 64}) {
    const FIFOQueue queue = watched("pond", capacity);
    reacted_ = false;
    const EndOfReports end;
    at_report(queue, [&] { EXPECT_TRUE(queue.close(true)); });
    auto put = fill(queue);
    EXPECT_FAILS(ErrorKind::Cancelled, put.get());
    EXPECT_EQ(std::ssize(drain(queue)), capacity);
    EXPECT_FAILS(ErrorKind::OutOfRange, queue.dequeue());
  }
}

TEST_F(Sinks, MayCloseAnEmptyQueueOrStopTheCoordinator) {
  const FIFOQueue queue = watched("pond");
  Coordinator coordinator;
  const std::stop_callback on_stop(coordinator.stop_token(), [&] { EXPECT_TRUE(queue.close(true)); });
  const EndOfReports end;
  at_report(queue, [&] { (void)coordinator.request_stop(Error(ErrorKind::DataLoss, "starved")); });
  EXPECT_FAILS(ErrorKind::OutOfRange, queue.dequeue());
  EXPECT_FAILS(ErrorKind::DataLoss, coordinator.join());
}

TEST_F(Sinks, MayFillAnEmptyQueueAndEmptyAFullOne) {
  const FIFOQueue queue = watched("pond");
  const EndOfReports end;
  at_report(queue, [&] { EXPECT_TRUE(queue.enqueue(number(7))); });
  EXPECT_EQ(value(*queue.dequeue()), 7);
  eventually([&] { return reacted_.load(); });
  reacted_ = false;
  at_report(queue, [&] { EXPECT_EQ(values(*queue.dequeue_many(64)), std::vector<int64_t>(64, 1)); });
  auto put = fill(queue);
  eventually([&] { return reacted_ && queue.stats().enqueued >= 128; });
  ASSERT_TRUE(queue.close(true));
  EXPECT_FAILS(ErrorKind::Cancelled, put.get());
}

TEST_F(Sinks, MayMakeCallsThatWaitForTheCallThatIsReported) {
  const FIFOQueue queue = watched("pond");
  const EndOfReports end;
  at_report(queue, [&] {
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(number(2)));
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.enqueue(number(3), {.timeout = kShort}));
    auto taken = later([&] { return queue.dequeue_many(65); });
    EXPECT_TRUE(queue.enqueue(number(4)));  // After the put that is reported.
    EXPECT_EQ(values(*taken.get()), std::vector<int64_t>(65, 1));
    EXPECT_EQ(value(*queue.dequeue()), 4);
    EXPECT_TRUE(queue.close());
  });
  for (int64_t i = 0; i < 64; ++i) ASSERT_TRUE(queue.enqueue(number(1)));
  EXPECT_TRUE(queue.enqueue(number(1)));
  eventually([&] { return reacted_.load(); });
  EXPECT_FAILS(ErrorKind::Cancelled, queue.enqueue(number(1)));
}

TEST_F(Sinks, ADequeueThatIsReportedEndsWhenTheSinkClosesTheQueue) {
  const FIFOQueue queue = watched("pond");
  const EndOfReports end;
  at_report(queue, [&] {
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = kShort}));
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_dequeue());
    EXPECT_TRUE(queue.close());
  });
  EXPECT_FAILS(ErrorKind::OutOfRange, queue.dequeue());
  eventually([&] { return reacted_.load(); });
}

// The full queue's own report waits for the log meanwhile.
TEST_F(Sinks, MayCloseAnotherQueueThatIsAboutToReport) {
  const FIFOQueue full = watched("full");
  const FIFOQueue empty = watched("empty");
  const EndOfReports end;
  at_report(empty, [&] {
    std::this_thread::sleep_for(5 * kShort);
    EXPECT_TRUE(full.close(true));
    EXPECT_TRUE(empty.close(true));
  });
  auto taken = later([&] { return empty.dequeue(); });
  until_waiting(empty, 0, 1);
  auto put = fill(full);
  EXPECT_FAILS(ErrorKind::Cancelled, put.get());
  EXPECT_FAILS(ErrorKind::OutOfRange, taken.get());
}

// As long as the sink does not return, others still put and take, and the call that is reported ends in time.
TEST_F(Sinks, HoldUpNoCall) {
  std::latch is_reporting(1), is_tried(1);
  const FIFOQueue queue = watched("pond");
  const EndOfReports end;
  at_report(queue, [&] {
    is_reporting.count_down();
    is_tried.wait();
  });
  auto taken = later([&] { return queue.dequeue({.timeout = 5 * kShort}); });
  is_reporting.wait();
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, taken.get());
  ASSERT_TRUE(queue.enqueue(number(1)));
  EXPECT_EQ(value(*queue.dequeue()), 1);
  is_tried.count_down();
}

TEST_F(Sinks, DoNotDelayTheErrorOfAnAbandonedQueue) {
  std::latch is_told(1);
  const FIFOQueue queue = watched("pond");
  Coordinator coordinator;
  QueueRunner(queue, {[](const std::stop_token&) -> Result<void> { return fail(ErrorKind::OutOfRange, "end"); }},
              {.close_op = [] { return Result<void>(); }})
      .start(coordinator);
  ASSERT_TRUE(coordinator.join());
  const EndOfReports end;
  at_report(queue, [&] { is_told.wait(); });
  EXPECT_FAILS(ErrorKind::FailedPrecondition, queue.dequeue());
  is_told.count_down();
}

// One call that sees two stalls, while the sink waits at the lock that the call holds.
TEST_F(Sinks, MayStillRunWhenTheSameCallReportsAgain) {
  const FIFOQueue queue = watched("pond");
  const EndOfReports end;
  at_report(queue, [&] { EXPECT_EQ(value(*queue.dequeue()), 4); });
  auto taken = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 2);
  ASSERT_TRUE(queue.enqueue(number(1)));
  std::this_thread::sleep_for(3 * kShort);
  ASSERT_TRUE(queue.enqueue_many(numbers({2, 3, 4})));
  EXPECT_EQ(values(*taken.get()), (std::vector<int64_t>{1, 2, 3}));
  eventually([&] { return reacted_.load(); });
}

TEST_F(Sinks, MayDestroyTheLastHandleBeforeOrAfterTheCallHasEnded) {
  for (const bool before : {false, true}) {
    auto queue = std::make_unique<FIFOQueue>(watched("pond"));
    std::future<Result<Element>> taken;
    std::latch is_known(1);
    reacted_ = false;
    const EndOfReports end;
    at_report(*queue, [&] {
      is_known.wait();
      if (before) queue.reset();
      EXPECT_FALSE(taken.get());
      if (!before) queue.reset();
    });
    taken = later([own = *queue] { return own.dequeue({.timeout = 5 * kShort}); });
    is_known.count_down();
    eventually([&] { return reacted_.load(); });
  }
}

// The other queue's report waits for the sink meanwhile.
TEST_F(Sinks, MayDestroyAnotherQueueThatReports) {
  auto other = std::make_unique<FIFOQueue>(watched("other"));
  const FIFOQueue queue = watched("pond");
  std::future<Result<Element>> taken;
  std::latch is_known(1);
  const EndOfReports end;
  at_report(queue, [&] {
    is_known.wait();
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, taken.get());
    other.reset();
  });
  taken = later([&] { return other->dequeue({.timeout = 5 * kShort}); });
  is_known.count_down();
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = 5 * kShort}));
  eventually([&] { return reacted_.load(); });
}

TEST_F(Sinks, DoNotDelayACallThatHoldsTheLastHandle) {
  std::latch is_reporting(1), is_over(1);
  auto queue = std::make_unique<FIFOQueue>(watched("pond"));
  const EndOfReports end;
  at_report(*queue, [&] {
    is_reporting.count_down();
    is_over.wait();
  });
  auto taken = later([&] { return queue->dequeue(); });
  is_reporting.wait();
  queue.reset();
  EXPECT_FALSE(taken.get());
  is_over.count_down();
}

}  // namespace
}  // namespace headpond::internal
