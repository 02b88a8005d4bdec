// SPDX-License-Identifier: Apache-2.0
// Calls for several elements, and the order in which waiting calls are served.
#include <gmock/gmock.h>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using Many = QueueTest;
using Order = QueueTest;

TEST_F(Many, RowsGoInAndComeOutAsABatch) {
  FIFOQueue queue({.capacity = 8, .dtypes = {i64, bytes}, .shapes = {Shape{2}, Shape{}}});
  const std::vector<int64_t> left = range(0, 6);
  const std::vector<std::string_view> right = {"a", "", "ccc"};
  ASSERT_TRUE(queue.enqueue_many(Element{{Tensor::from(std::span<const int64_t>(left), {3, 2}),
                                          Tensor::from(std::span<const std::string_view>(right), {3})}}));
  EXPECT_EQ(queue.size(), 3);
  const Result<Element> one = queue.dequeue();
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)[0].shape(), Shape{2});
  const Result<Element> batch = queue.dequeue_many(2);
  ASSERT_TRUE(batch);
  EXPECT_EQ((*batch)[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(values(*batch), range(2, 6));
  EXPECT_EQ((*batch)[1].bytes_at(1), "ccc");
}

TEST_F(Many, NoRowsAreInAtOnceAlsoOnAClosedOrFullQueue) {
  FIFOQueue queue(scalars(1));
  EXPECT_TRUE(queue.enqueue_many(numbers({})));
  ASSERT_TRUE(queue.enqueue(number(1)));
  EXPECT_TRUE(queue.enqueue_many(numbers({})));
  ASSERT_TRUE(queue.close());
  EXPECT_TRUE(queue.enqueue_many(numbers({})));
}

TEST_F(Many, MoreRowsThanRoomGoInRowByRow) {
  FIFOQueue queue(scalars(3));
  auto put = later([&] { return queue.enqueue_many(numbers(range(0, 10))); });
  until_waiting(queue, 1, 0);
  EXPECT_EQ(queue.size(), 3);
  EXPECT_EQ(value(*queue.dequeue()), 0);
  eventually([&] { return queue.stats().enqueued == 4; });
  EXPECT_FALSE(is_done(put));
  EXPECT_EQ(values(*queue.dequeue_many(9)), range(1, 10));
  EXPECT_TRUE(put.get());
}

TEST_F(Many, RowsThatAreInStayInWhenTheCallIsCancelledOrTimesOut) {
  FIFOQueue queue(scalars(3));
  auto put = later([&] { return queue.enqueue_many(numbers(range(0, 5))); });
  until_waiting(queue, 1, 0);
  ASSERT_TRUE(queue.close(true));
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", put.get());
  EXPECT_EQ(drain(queue), range(0, 3));
  FIFOQueue other(scalars(3));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, other.enqueue_many(numbers(range(0, 5)), {.timeout = milliseconds(1)}));
  EXPECT_EQ(drain(other), range(0, 3));
}

TEST_F(Many, RowsOfDifferentCountsAreRefusedByName) {
  FIFOQueue queue({.capacity = 4, .dtypes = {i64, i64}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected 2 rows as component 0 has, received 3",
                    queue.enqueue_many(Element{{numbers({1, 2})[0], numbers({1, 2, 3})[0]}}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected a batch of rows, received a scalar",
                    queue.enqueue_many(Element{{number(1)[0], numbers({1})[0]}}));
  EXPECT_EQ(queue.size(), 0);
}

TEST_F(Many, DequeueManyOfNothingIsEmptyAtOnceAlsoWhenClosed) {
  FIFOQueue queue({.capacity = 4, .dtypes = {i64}, .shapes = {Shape{2, 3}}});
  for (int round = 0; round < 2; ++round) {
    const Result<Element> nothing = queue.dequeue_many(0);
    ASSERT_TRUE(nothing);
    EXPECT_EQ((*nothing)[0].shape(), (Shape{0, 2, 3}));
    EXPECT_TRUE(queue.dequeue_up_to(0));
    (void)queue.close();
  }
}

TEST_F(Many, DequeueManyRefusesNegativeCountsAndQueuesWithoutShapes) {
  FIFOQueue queue(scalars(4));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "-1", queue.dequeue_many(-1));
  EXPECT_FAILS(ErrorKind::InvalidArgument, queue.dequeue_up_to(-1));
  FIFOQueue shapeless({.capacity = 4, .dtypes = {i64}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "shapes", shapeless.dequeue_many(0));
  EXPECT_FAILS(ErrorKind::InvalidArgument, shapeless.dequeue_up_to(2));
}

TEST_F(Many, DequeueManyMayAskForMoreThanTheCapacity) {
  FIFOQueue queue(scalars(2));
  auto batch = later([&] { return queue.dequeue_many(7); });
  for (int64_t i = 0; i < 7; ++i) ASSERT_TRUE(queue.enqueue(number(i)));
  EXPECT_EQ(values(*batch.get()), range(0, 7));
}

TEST_F(Many, ElementsDrainedIntoAWaitingDequeueManyDoNotCount) {
  FIFOQueue queue(scalars(4));
  auto batch = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue_many(numbers({1, 2})));
  eventually([&] { return queue.size() == 0; });
  EXPECT_EQ(queue.stats().waiting_dequeues, 1);
  ASSERT_TRUE(queue.enqueue(number(3)));
  EXPECT_EQ(values(*batch.get()), range(1, 4));
}

TEST_F(Many, AFailedDequeueManyGivesBackToTheFrontInOrder) {
  FIFOQueue queue(scalars(4));
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(6, {.stop = stop.get_token()}); });
  ASSERT_TRUE(queue.enqueue_many(numbers({1, 2, 3, 4})));
  eventually([&] { return queue.size() == 0; });
  ASSERT_TRUE(queue.enqueue(number(5)));
  stop.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Dequeue operation was cancelled", batch.get());
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(9, {.timeout = milliseconds(2)}));
  EXPECT_EQ(drain(queue), range(1, 6));
}

TEST_F(Many, WhatWasGivenBackMayExceedTheCapacityAndEnqueuesWait) {
  FIFOQueue queue(scalars(2));
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(5, {.stop = stop.get_token()}); });
  ASSERT_TRUE(queue.enqueue_many(numbers(range(0, 4))));
  eventually([&] { return queue.size() == 0; });
  ASSERT_TRUE(queue.close(false));
  EXPECT_FAILS(ErrorKind::OutOfRange, batch.get());
  EXPECT_EQ(queue.size(), 4);
  EXPECT_EQ(drain(queue), range(0, 4));
}

TEST_F(Many, EnqueuesWaitUntilTheSizeIsBelowTheCapacityAgain) {
  FIFOQueue queue(scalars(2));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(1, {.timeout = milliseconds(0)}));
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(9, {.stop = stop.get_token()}); });
  ASSERT_TRUE(queue.enqueue_many(numbers(range(0, 4))));
  eventually([&] { return queue.size() == 0; });
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, batch.get());
  ASSERT_EQ(queue.size(), 4);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(number(4)));
  ASSERT_TRUE(queue.dequeue_many(2));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(number(4)));
  ASSERT_TRUE(queue.dequeue());
  ASSERT_TRUE(queue.try_enqueue(number(4)));
  EXPECT_EQ(drain(queue), range(3, 5));
}

TEST_F(Many, WhoeverWaitsNextIsServedWithWhatWasGivenBack) {
  FIFOQueue queue(scalars(4));
  std::stop_source stop;
  auto big = later([&] { return queue.dequeue_many(5, {.stop = stop.get_token()}); });
  until_waiting(queue, 0, 1);
  auto next = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 2);
  ASSERT_TRUE(queue.enqueue_many(numbers({1, 2})));
  eventually([&] { return queue.size() == 0; });
  EXPECT_FALSE(is_done(next));
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, big.get());
  EXPECT_EQ(value(*next.get()), 1);
  EXPECT_EQ(drain(queue), std::vector<int64_t>{2});
}

TEST_F(Many, ABatchHasMemoryOfItsOwnAndRowsToo) {
  FIFOQueue queue({.capacity = 4, .dtypes = {f32}, .shapes = {Shape{100}}});
  const int64_t before = BufferPool::shared().stats().bytes_in_use;
  {
    Tensor rows = Tensor::empty(f32, {4, 100});
    for (float& each : rows.mutable_as<float>()) each = 1.5F;
    ASSERT_TRUE(queue.enqueue_many(Element{{rows}}));
    for (float& each : rows.mutable_as<float>()) each = 9;
  }
  const Result<Element> taken = queue.dequeue_many(3);
  ASSERT_TRUE(taken);
  for (const float each : (*taken)[0].as<float>()) ASSERT_EQ(each, 1.5F);
  EXPECT_LT(BufferPool::shared().stats().bytes_in_use - before, 4 * 100 * 4 + 2048);
}

TEST_F(Many, RowsOfNoBytesPass) {
  FIFOQueue queue({.capacity = 4, .dtypes = {f32, bytes}, .shapes = {Shape{0}, Shape{0}}});
  ASSERT_TRUE(queue.enqueue_many(
      Element{{Tensor::empty(f32, {2, 0}), Tensor::from(std::span<const std::string_view>(), {2, 0})}}));
  const Result<Element> taken = queue.dequeue_many(2);
  ASSERT_TRUE(taken);
  EXPECT_EQ((*taken)[0].shape(), (Shape{2, 0}));
}

TEST_F(Many, AStopOrACloseEndsAnEnqueueManyThatNeverLacksRoom) {
  for (const bool close : {false, true}) {
    FIFOQueue queue(scalars(64));
    std::stop_source stop;
    auto taker = later([&] {
      while (queue.dequeue()) {
      }
    });
    auto put = later([&] { return queue.enqueue_many(numbers(range(0, 5'000'000)), {.stop = stop.get_token()}); });
    eventually([&] { return queue.stats().dequeued > 1000; });
    if (close) {
      ASSERT_TRUE(queue.close(true));
    } else {
      stop.request_stop();
    }
    EXPECT_FAILS(ErrorKind::Cancelled, put.get());
    EXPECT_LT(queue.stats().enqueued, 5'000'000);
    ASSERT_TRUE(queue.close(true));
    taker.get();
  }
}

TEST_F(Order, WaitingDequeuesAreServedInOrderOfArrival) {
  FIFOQueue queue(scalars(16));
  std::vector<std::future<Result<Element>>> waiting;
  for (int64_t i = 0; i < 6; ++i) {
    waiting.push_back(later([&] { return queue.dequeue(); }));
    until_waiting(queue, 0, i + 1);
  }
  ASSERT_TRUE(queue.enqueue_many(numbers(range(0, 6))));
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(value(*waiting[static_cast<size_t>(i)].get()), i);
}

TEST_F(Order, WaitingEnqueuesAreServedInOrderOfArrival) {
  FIFOQueue queue(scalars(1));
  ASSERT_TRUE(queue.enqueue(number(0)));
  std::vector<std::future<Result<void>>> waiting;
  for (int64_t i = 1; i < 6; ++i) {
    waiting.push_back(later([&queue, i] { return queue.enqueue(number(i)); }));
    until_waiting(queue, i, 0);
  }
  EXPECT_EQ(values(*queue.dequeue_many(6)), range(0, 6));
}

TEST_F(Order, ABigDequeueManyHoldsUpLaterSingleDequeues) {
  FIFOQueue queue(scalars(16));
  auto big = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  auto single = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 2);
  ASSERT_TRUE(queue.enqueue_many(numbers({0, 1})));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = milliseconds(2)}));
  EXPECT_FALSE(is_done(single));
  ASSERT_TRUE(queue.enqueue_many(numbers({2, 3})));
  EXPECT_EQ(values(*big.get()), range(0, 3));
  EXPECT_EQ(value(*single.get()), 3);
}

TEST_F(Order, ABigEnqueueManyHoldsUpLaterEnqueues) {
  FIFOQueue queue(scalars(2));
  auto big = later([&] { return queue.enqueue_many(numbers(range(0, 4))); });
  until_waiting(queue, 1, 0);
  auto single = later([&] { return queue.enqueue(number(4)); });
  until_waiting(queue, 2, 0);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(number(9)));
  EXPECT_EQ(values(*queue.dequeue_many(5)), range(0, 5));
  EXPECT_TRUE(big.get());
  EXPECT_TRUE(single.get());
}

}  // namespace
}  // namespace headpond::internal
