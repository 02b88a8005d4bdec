// SPDX-License-Identifier: Apache-2.0
// What each operation answers in each situation, for each type; queue_close_test.cc and queue_many_test.cc go on.
#include <gmock/gmock.h>

#include "headpond/queue/queue_state_internal.h"
#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

class Outcome : public TypeTest {};
INSTANTIATE_TEST_SUITE_P(Types, Outcome, ::testing::ValuesIn(kTypes), name_of_type);

TEST_P(Outcome, EnqueueWithRoomCompletes) {
  Queue queue = make(2);
  EXPECT_TRUE(queue.enqueue(one(1)));
  EXPECT_TRUE(queue.enqueue(one(2)));
  EXPECT_EQ(queue.size(), 2);
}

TEST_P(Outcome, EnqueueIntoAFullQueueWaitsForRoom) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto second = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  EXPECT_EQ(queue.size(), 1);
  EXPECT_EQ(value(*queue.dequeue()), 1);
  EXPECT_TRUE(second.get());
  EXPECT_EQ(value(*queue.dequeue()), 2);
}

TEST_P(Outcome, EnqueueIntoAClosedQueueIsCancelled) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, GetParam() + " 'pond' is closed.", queue.enqueue(one(1)));
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "is closed.", queue.enqueue_many(rows({1})));
}

TEST_P(Outcome, EnqueueIntoAClosedFullQueueWithTimeoutZeroIsCancelledAndNotTimedOut) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS(ErrorKind::Cancelled, queue.try_enqueue(one(2)));
}

TEST_P(Outcome, DequeueFromAnEmptyQueueWaits) {
  Queue queue = make(1);
  auto taken = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue(one(7)));
  EXPECT_EQ(value(*taken.get()), 7);
}

TEST_P(Outcome, DequeueFromAClosedEmptyQueueIsOutOfRangeWithItsText) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange,
                    GetParam() + " 'pond' is closed and has insufficient elements (requested 1, current size 0)",
                    queue.dequeue());
  EXPECT_FAILS(ErrorKind::OutOfRange, queue.try_dequeue());
}

TEST_P(Outcome, ATimedOutCallLeavesTheQueueUsable) {
  Queue queue = make(1);
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "pond", queue.dequeue({.timeout = milliseconds(5)}));
  ASSERT_TRUE(queue.enqueue(one(1)));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "pond", queue.enqueue(one(2), {.timeout = milliseconds(5)}));
  EXPECT_EQ(value(*queue.dequeue()), 1);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_dequeue());
  ASSERT_TRUE(queue.enqueue(one(3)));
  EXPECT_EQ(value(*queue.dequeue()), 3);
}

TEST_P(Outcome, TheElementOfATimedOutEnqueueNeverComesInLater) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.enqueue(one(2), {.timeout = milliseconds(1)}));
  ASSERT_TRUE(queue.close());
  EXPECT_EQ(drain(queue), std::vector<int64_t>{1});
}

TEST_P(Outcome, ATimeoutBelowZeroOrOfAllTimeIsNoTrap) {
  Queue queue = make(1);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = std::chrono::nanoseconds(-5)}));
  auto taken = later([&] { return queue.dequeue({.timeout = kForever - std::chrono::nanoseconds(1)}); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  EXPECT_TRUE(taken.get());
}

TEST_P(Outcome, AWaitingCallIsCancelledByItsOwnStopAndTheQueueStaysOpen) {
  Queue queue = make(1);
  std::stop_source stop;
  auto taken = later([&] { return queue.dequeue({.stop = stop.get_token()}); });
  until_waiting(queue, 0, 1);
  stop.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Dequeue operation was cancelled", taken.get());
  ASSERT_TRUE(queue.enqueue(one(1)));
  std::stop_source other;
  auto put = later([&] { return queue.enqueue(one(2), {.stop = other.get_token()}); });
  until_waiting(queue, 1, 0);
  other.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", put.get());
  EXPECT_FALSE(queue.is_closed());
  EXPECT_EQ(drain(queue), std::vector<int64_t>{1});
}

TEST_P(Outcome, ACallInLineIsCancelledByItsOwnStopWithoutDisturbingTheLine) {
  Queue queue = make(4);
  auto first = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  std::stop_source stop;
  auto second = later([&] { return queue.dequeue({.stop = stop.get_token()}); });
  until_waiting(queue, 0, 2);
  auto third = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 3);
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, second.get());
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  EXPECT_EQ(value(*first.get()) + value(*third.get()), 3);
}

TEST_P(Outcome, AStopThatCameBeforeTheCallTakesAndPutsNothing) {
  Queue queue = make(4);
  ASSERT_TRUE(queue.enqueue(one(1)));
  std::stop_source stop;
  stop.request_stop();
  const Wait wait{.stop = stop.get_token()};
  EXPECT_FAILS(ErrorKind::Cancelled, queue.dequeue(wait));
  EXPECT_FAILS(ErrorKind::Cancelled, queue.dequeue_many(1, wait));
  EXPECT_FAILS(ErrorKind::Cancelled, queue.dequeue_up_to(1, wait));
  EXPECT_FAILS(ErrorKind::Cancelled, queue.enqueue(one(2), wait));
  EXPECT_FAILS(ErrorKind::Cancelled, queue.enqueue_many(rows({2}), wait));
  EXPECT_EQ(queue.size(), 1);
}

TEST_P(Outcome, WrongArgumentsAreAnsweredAtOnceWhileCallsWait) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto waits = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  EXPECT_FAILS(ErrorKind::InvalidArgument, queue.enqueue(Element{{Tensor::scalar(1.0F)}}));
  EXPECT_TRUE(queue.enqueue_many(rows({})));
  ASSERT_TRUE(queue.close(true));
  EXPECT_FAILS(ErrorKind::Cancelled, waits.get());
}

TEST_P(Outcome, SizeAnswersAfterClose) {
  Queue queue = make(4);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  ASSERT_TRUE(queue.close());
  EXPECT_EQ(queue.size(), 2);
  ASSERT_TRUE(queue.dequeue());
  EXPECT_EQ(queue.size(), 1);
}

TEST_P(Outcome, StatsCountElementsAndWaits) {
  Queue queue = make(2);
  auto taken = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  ASSERT_TRUE(taken.get());
  const QueueStats stats = queue.stats();
  EXPECT_EQ(stats.enqueued, 2);
  EXPECT_EQ(stats.dequeued, 1);
  EXPECT_EQ(stats.size, 1);
  EXPECT_EQ(stats.dequeue_waits, 1);
  EXPECT_GT(stats.dequeue_wait_ns, 0);
  EXPECT_EQ(stats.waiting_dequeues, 0);
  EXPECT_EQ(stats.capacity, 2);
}

TEST_P(Outcome, StatsCountACallThatWaitsAgainAndAgainOnce) {
  const Queue queue = make(4);
  auto taken = later([&] { return queue.dequeue_many(4); });
  for (int64_t i = 0; i < 4; ++i) {
    until_waiting(queue, 0, 1);
    std::this_thread::sleep_for(milliseconds(5));
    ASSERT_TRUE(queue.enqueue(one(i)));
  }
  ASSERT_TRUE(taken.get());
  EXPECT_EQ(queue.stats().dequeue_waits, 1);
  EXPECT_GE(queue.stats().dequeue_wait_ns, 5'000'000);
}

TEST_P(Outcome, StatsCountWaitsInLineAlsoOfThoseWhoGiveUpThere) {
  const Queue queue = make(4);
  std::vector<std::future<Result<Element>>> taken;
  for (int64_t i = 1; i <= 3; ++i) {
    taken.push_back(later([&] { return queue.dequeue(); }));
    until_waiting(queue, 0, i);
  }
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = milliseconds(20)}));
  EXPECT_EQ(queue.stats().dequeue_waits, 1);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2, 3})));
  for (auto& each : taken) EXPECT_TRUE(each.get());
  EXPECT_EQ(queue.stats().dequeue_waits, 4);
  EXPECT_GE(queue.stats().dequeue_wait_ns, 4 * 20'000'000);
}

TEST_P(Outcome, StatsTellATypicalWaitAndALongOneOfEachSide) {
  const Queue queue = make(1);
  for (int i = 0; i < 10; ++i) {
    auto taken = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 1);
    std::this_thread::sleep_for(milliseconds(i == 0 ? 40 : 4));
    ASSERT_TRUE(queue.enqueue(one(i)));
    ASSERT_TRUE(taken.get());
  }
  QueueStats stats = queue.stats();
  EXPECT_GE(stats.dequeue_wait_p50_ns, 4'000'000);
  EXPECT_GE(stats.dequeue_wait_p99_ns, 40'000'000);
  EXPECT_LT(stats.dequeue_wait_p50_ns, stats.dequeue_wait_p99_ns);
  EXPECT_EQ(stats.enqueue_wait_p50_ns, 0) << "none waited";
  EXPECT_EQ(stats.enqueue_wait_p99_ns, 0);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto put = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  std::this_thread::sleep_for(milliseconds(4));
  ASSERT_TRUE(queue.dequeue());
  ASSERT_TRUE(put.get());
  stats = queue.stats();
  EXPECT_GE(stats.enqueue_wait_p50_ns, 4'000'000);
}

TEST_P(Outcome, StatsCountNoWaitWhereThereIsRoomHoweverManyPut) {
  const Queue queue = make(-1);
  std::vector<std::future<void>> puts;
  for (int thread = 0; thread < 4; ++thread) {
    puts.push_back(later([&] {
      for (int64_t i = 0; i < 2000; ++i) ASSERT_TRUE(queue.enqueue(one(i)));
    }));
  }
  for (auto& each : puts) each.get();
  EXPECT_EQ(queue.stats().enqueue_waits, 0);
  EXPECT_EQ(queue.stats().enqueue_wait_ns, 0);
}

TEST_P(Outcome, StatsTellHowFullItWasForEachSide) {
  Queue queue = make(4);
  for (const int64_t i : {1, 2, 3, 4}) ASSERT_TRUE(queue.enqueue(one(i)));
  EXPECT_DOUBLE_EQ(queue.stats().enqueue_size_mean, 2.5) << "1, 2, 3, 4";
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.dequeue());
  EXPECT_DOUBLE_EQ(queue.stats().dequeue_size_mean, 2.5) << "4, 3, 2, 1";
  EXPECT_EQ(queue.stats().size_peak, 4);
  EXPECT_FALSE(queue.try_dequeue());
  EXPECT_DOUBLE_EQ(queue.stats().dequeue_size_mean, 2) << "it found none";
}

TEST_P(Outcome, StatsOfABatchTellHowFullItWasWhenTheBatchWasBegun) {
  Queue queue = make(4);
  for (const int64_t i : {1, 2, 3, 4}) ASSERT_TRUE(queue.enqueue(one(i)));
  const bool at_once = GetParam() == "RandomShuffleQueue" || GetParam() == "PriorityQueue";
  const int64_t size = at_once ? 4 : 6;
  auto taken = later([&] { return queue.dequeue_many(size); });
  if (size > 4) {
    until_waiting(queue, 0, 1);
    for (const int64_t i : {5, 6}) ASSERT_TRUE(queue.enqueue(one(i)));
  }
  ASSERT_TRUE(taken.get());
  EXPECT_EQ(queue.stats().dequeue_size_mean, 4);
}

TEST_P(Outcome, StatsOfSlowProducersTellThatDequeuesFindNothing) {
  Queue queue = make(4);
  for (int64_t i = 0; i < 10; ++i) {
    auto taken = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 1);
    ASSERT_TRUE(queue.enqueue(one(i)));
    ASSERT_TRUE(taken.get());
  }
  EXPECT_EQ(queue.stats().dequeue_size_mean, 0);
  EXPECT_EQ(queue.stats().size_peak, 1);
}

TEST_P(Outcome, StatsCountBytesNowAndAtTheMost) {
  Queue queue = make(100);
  const int64_t size = one(1).size() == 2 ? 16 : 8;  // With a priority.
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(queue.stats().bytes, 6 * size);
  ASSERT_TRUE(queue.dequeue_many(4));
  EXPECT_FALSE(queue.dequeue_many(3, {.timeout = milliseconds(1)})) << "gives back what it took";
  EXPECT_EQ(queue.stats().bytes, 2 * size);
  EXPECT_EQ(queue.stats().bytes_peak, 6 * size);
}

TEST_P(Outcome, StatsTellBytesOfElementsThatDifferInSize) {
  const auto of = [&](int64_t size) {
    return maker_.with_priority(Element{{Tensor::empty(u8, {size})}}, Tensor::scalar(size));
  };
  const std::vector<Shape> shapes =
      GetParam() == "PaddingFIFOQueue" ? std::vector{Shape{kUnknown}} : std::vector<Shape>();
  const int64_t more = GetParam() == "PriorityQueue" ? 8 : 0;  // Bytes of a priority.
  const Queue mean = maker_.make({.capacity = 100, .dtypes = {u8}, .shapes = shapes});
  for (const int64_t size : {30, 0, 60}) ASSERT_TRUE(mean.enqueue(of(size)));
  EXPECT_EQ(mean.stats().bytes, 90 + 3 * more);
  ASSERT_TRUE(mean.dequeue());
  EXPECT_EQ(mean.stats().bytes, 60 + 2 * more) << "two of 30";
  EXPECT_EQ(mean.stats().bytes_peak, 90 + 3 * more);
  if (GetParam() == "PriorityQueue") return;  // It has no limit of bytes.
  const Queue exact = maker_.make({.capacity = 100, .dtypes = {u8}, .shapes = shapes, .memory_limit = 1000});
  for (const int64_t size : {30, 0, 60}) ASSERT_TRUE(exact.enqueue(of(size)));
  while (exact.try_dequeue()) continue;
  EXPECT_EQ(exact.stats().bytes, 0);
  ASSERT_TRUE(exact.enqueue(of(7)));
  EXPECT_EQ(exact.stats().bytes, 7);
  EXPECT_EQ(exact.stats().bytes_peak, 90);
}

// A call with timeout zero observes all completed calls; it does not wait for threads that have not run again yet. One
// call is enough unless the system keeps them from a processor for long: gate_schedules_test.cc knows none that does.
TEST_P(Outcome, ACallWithTimeoutZeroFindsWhatThoseThatWaitedLeft) {
  for (int round = 0; round < 50; ++round) {
    Queue queue = make(2);
    auto first = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 1);
    auto second = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 2);
    ASSERT_TRUE(queue.try_enqueue(one(1)));
    ASSERT_TRUE(queue.try_enqueue(one(2)));
    eventually([&] { return queue.try_enqueue(one(3)).has_value(); });
    eventually([&] { return queue.try_enqueue(one(4)).has_value(); });
    ASSERT_TRUE(queue.try_dequeue());
    ASSERT_TRUE(queue.try_dequeue());
    ASSERT_TRUE(first.get() && second.get());
    EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_dequeue());
  }
}

TEST_P(Outcome, ADequeueWithTimeoutZeroFindsTheElementOfAnEnqueueThatWaited) {
  for (int round = 0; round < 50; ++round) {
    Queue queue = make(1);
    ASSERT_TRUE(queue.enqueue(one(1)));
    auto waits = later([&] { return queue.enqueue(one(2)); });
    until_waiting(queue, 1, 0);
    ASSERT_TRUE(queue.try_dequeue());
    eventually([&] { return queue.try_dequeue().has_value(); });
    ASSERT_TRUE(waits.get());
  }
}

TEST_P(Outcome, ADequeueWithTimeoutZeroFindsTheEndAfterOneThatWaited) {
  for (int round = 0; round < 50; ++round) {
    Queue queue = make(1);
    auto waits = later([&] { return queue.dequeue(); });
    until_waiting(queue, 0, 1);
    ASSERT_TRUE(queue.close());
    EXPECT_FAILS(ErrorKind::OutOfRange, queue.try_dequeue());
    EXPECT_FAILS(ErrorKind::OutOfRange, waits.get());
  }
}

TEST_P(Outcome, CallsWithTimeoutZeroDoNotDisturbEachOther) {
  constexpr int64_t kEach = 500;
  Queue queue = make(-1);
  ASSERT_TRUE(queue.enqueue_many(rows(range(0, 4 * kEach))));
  std::vector<std::future<int64_t>> missed;
  for (int thread = 0; thread < 4; ++thread) {
    missed.push_back(later([&] {
      int64_t count = 0;
      for (int64_t i = 0; i < kEach; ++i) {
        const int64_t start = now_ns();
        // A miss is right only where the calls beside this one used up what it gives them (wait.h).
        count += queue.try_dequeue() || now_ns() - start >= kGivenToRunningCalls ? 0 : 1;
      }
      return count;
    }));
  }
  for (auto& each : missed) EXPECT_EQ(each.get(), 0);
}

TEST_P(Outcome, AnElementKeepsItsKeyOriginAndManyComponents) {
  Queue queue = make({.capacity = 2, .dtypes = std::vector<DType>(6, i64), .shapes = std::vector<Shape>(6)});
  Element six;
  for (int64_t i = 0; i < 6; ++i) six.append(Tensor::scalar(i));
  Element element = maker_.with_priority(six, Tensor::scalar(int64_t{0}));
  const size_t size = element.size();
  element.key = 17;
  element.provenance = {.source = 3, .record = 5};
  ASSERT_TRUE(queue.enqueue(std::move(element)));
  const Result<Element> taken = queue.dequeue();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->size(), size);
  EXPECT_EQ((*taken)[size - 1].as<int64_t>()[0], 5);
  EXPECT_EQ(taken->key, 17U);
  EXPECT_EQ(taken->provenance.record, 5U);
}

TEST_P(Outcome, ElementsThatNobodyTookGoWithTheQueue) {
  const int64_t before = BufferPool::shared().stats().bytes_in_use;
  {
    Queue queue = make({.capacity = 8, .dtypes = {f32}, .shapes = {Shape{1000}}});
    for (int64_t i = 0; i < 8; ++i) {
      ASSERT_TRUE(queue.enqueue(maker_.with_priority(Element{{Tensor::empty(f32, {1000})}}, Tensor::scalar(i))));
    }
    ASSERT_TRUE(queue.dequeue());
    EXPECT_GT(BufferPool::shared().stats().bytes_in_use, before);
  }
  EXPECT_EQ(BufferPool::shared().stats().bytes_in_use, before);
}

}  // namespace
}  // namespace headpond::internal
