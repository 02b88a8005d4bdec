// SPDX-License-Identifier: Apache-2.0
// Calls for several elements, and the order in which waiting calls are served.
#include <gmock/gmock.h>

#include <atomic>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using Rows = QueueTest;

class Many : public TypeTest {};
INSTANTIATE_TEST_SUITE_P(Types, Many, ::testing::ValuesIn(kTypes), name_of_type);
class Order : public TypeTest {};
INSTANTIATE_TEST_SUITE_P(Types, Order, ::testing::ValuesIn(kTypes), name_of_type);
// Types whose dequeue_many takes elements as they come.
class Piecewise : public TypeTest {};
INSTANTIATE_TEST_SUITE_P(Types, Piecewise, ::testing::Values("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue"),
                         name_of_type);

TEST_F(Rows, RowsGoInAndComeOutAsABatch) {
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

TEST_P(Many, NoRowsAreInAtOnceAlsoOnAClosedOrFullQueue) {
  Queue queue = make(1);
  EXPECT_TRUE(queue.enqueue_many(rows({})));
  ASSERT_TRUE(queue.enqueue(one(1)));
  EXPECT_TRUE(queue.enqueue_many(rows({})));
  ASSERT_TRUE(queue.close());
  EXPECT_TRUE(queue.enqueue_many(rows({})));
}

TEST_P(Many, MoreRowsThanRoomGoInRowByRow) {
  Queue queue = make(3);
  auto put = later([&] { return queue.enqueue_many(rows(range(0, 10))); });
  until_waiting(queue, 1, 0);
  EXPECT_EQ(queue.size(), 3);
  std::vector<int64_t> taken = {value(*queue.dequeue())};
  eventually([&] { return queue.stats().enqueued == 4; });
  EXPECT_FALSE(is_done(put));
  while (taken.size() < 10) taken.push_back(value(*queue.dequeue()));
  EXPECT_EQ(in_order(taken), range(0, 10));
  EXPECT_TRUE(put.get());
}

TEST_P(Many, RowsThatAreInStayInWhenTheCallIsCancelledOrTimesOut) {
  Queue queue = make(3);
  auto put = later([&] { return queue.enqueue_many(rows(range(0, 5))); });
  until_waiting(queue, 1, 0);
  ASSERT_TRUE(queue.close(true));
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", put.get());
  EXPECT_EQ(in_order(drain(queue)), range(0, 3));
  Queue other = make(3);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, other.enqueue_many(rows(range(0, 5)), {.timeout = milliseconds(1)}));
  EXPECT_EQ(in_order(drain(other)), range(0, 3));
}

TEST_P(Many, RowsOfDifferentCountsAreRefusedByName) {
  Queue queue = make({.capacity = 4, .dtypes = {i64, i64}, .shapes = {Shape{}, Shape{}}});
  const Tensor two = numbers({1, 2})[0];
  const Tensor three = numbers({1, 2, 3})[0];
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected 2 rows as component 0 has, received 3",
                    queue.enqueue_many(maker_.with_priority(Element{two, three}, two)));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected a batch of rows, received a scalar",
                    queue.enqueue_many(maker_.with_priority(Element{number(1)[0], two}, two)));
  EXPECT_EQ(queue.size(), 0);
}

TEST_P(Many, DequeueManyOfNothingIsEmptyAtOnceAlsoWhenClosed) {
  Queue queue = make({.capacity = 4, .dtypes = {i64}, .shapes = {Shape{2, 3}}});
  for (int round = 0; round < 2; ++round) {
    const Result<Element> nothing = queue.dequeue_many(0);
    ASSERT_TRUE(nothing);
    EXPECT_EQ((*nothing)[nothing->size() - 1].shape(), (Shape{0, 2, 3}));
    EXPECT_TRUE(queue.dequeue_up_to(0));
    (void)queue.close();
  }
}

TEST_P(Many, WrongArgumentsAreAnsweredAtOnceWhileADequeueWaits) {
  Queue queue = make(scalars(4));
  auto waits = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  EXPECT_TRUE(queue.dequeue_many(0));
  EXPECT_TRUE(queue.dequeue_up_to(0));
  EXPECT_FAILS(ErrorKind::InvalidArgument, queue.dequeue_many(-1));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_up_to(INT64_MAX, {.timeout = std::chrono::nanoseconds(0)}));
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS(ErrorKind::OutOfRange, waits.get());
}

TEST_P(Many, DequeueManyRefusesNegativeCountsAndQueuesWithoutShapes) {
  Queue queue = make(4);
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "-1", queue.dequeue_many(-1));
  EXPECT_FAILS(ErrorKind::InvalidArgument, queue.dequeue_up_to(-1));
  if (GetParam() == "PaddingFIFOQueue") return;  // It has shapes.
  Queue shapeless = make({.capacity = 4, .dtypes = {i64}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "shapes", shapeless.dequeue_many(0));
  EXPECT_FAILS(ErrorKind::InvalidArgument, shapeless.dequeue_up_to(2));
}

TEST_P(Piecewise, DequeueManyMayAskForMoreThanTheCapacity) {
  Queue queue = make(2);
  auto batch = later([&] { return queue.dequeue_many(7); });
  for (int64_t i = 0; i < 7; ++i) ASSERT_TRUE(queue.enqueue(one(i)));
  EXPECT_EQ(in_order(values(*batch.get())), range(0, 7));
}

TEST_P(Piecewise, ElementsDrainedIntoAWaitingDequeueManyDoNotCount) {
  Queue queue = make(4);
  auto batch = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  eventually([&] { return queue.size() == 0; });
  until_waiting(queue, 0, 1);  // Again: it has two, and sleeps for the third.
  ASSERT_TRUE(queue.enqueue(one(3)));
  EXPECT_EQ(in_order(values(*batch.get())), range(1, 4));
}

TEST_P(Piecewise, AFailedDequeueManyGivesBackToTheFrontInOrder) {
  Queue queue = make(4);
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(6, {.stop = stop.get_token()}); });
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2, 3, 4})));
  eventually([&] { return queue.size() == 0; });
  ASSERT_TRUE(queue.enqueue(one(5)));
  stop.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Dequeue operation was cancelled", batch.get());
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(9, {.timeout = milliseconds(2)}));
  EXPECT_EQ(in_order(drain(queue)), range(1, 6));
}

TEST_P(Piecewise, WhatWasGivenBackMayExceedTheCapacityAndEnqueuesWait) {
  Queue queue = make(2);
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(5, {.stop = stop.get_token()}); });
  ASSERT_TRUE(queue.enqueue_many(rows(range(0, 4))));
  eventually([&] { return queue.size() == 0; });
  ASSERT_TRUE(queue.close(false));
  EXPECT_FAILS(ErrorKind::OutOfRange, batch.get());
  EXPECT_EQ(queue.size(), 4);
  EXPECT_EQ(in_order(drain(queue)), range(0, 4));
}

TEST_P(Piecewise, EnqueuesWaitUntilTheSizeIsBelowTheCapacityAgain) {
  Queue queue = make(2);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(1, {.timeout = milliseconds(0)}));
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(9, {.stop = stop.get_token()}); });
  ASSERT_TRUE(queue.enqueue_many(rows(range(0, 4))));
  eventually([&] { return queue.size() == 0; });
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, batch.get());
  ASSERT_EQ(queue.size(), 4);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(one(4)));
  ASSERT_TRUE(queue.dequeue_many(2));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(one(4)));
  ASSERT_TRUE(queue.dequeue());
  ASSERT_TRUE(queue.try_enqueue(one(4)));
  const std::vector<int64_t> rest = drain(queue);
  EXPECT_EQ(rest.size(), 2U);
  EXPECT_TRUE(!maker_.keeps_order() || rest == range(3, 5));
}

// The room that an enqueue_many saw may be gone when it looks again: the batch that failed has put its elements back.
TEST_P(Piecewise, ABatchThatFailsDoublesNoRowOfAnEnqueueManyThatWaits) {
  constexpr int64_t kRows = 3000;
  const Queue queue = make(scalars(2));
  auto put = later([&] { return queue.enqueue_many(numbers(range(0, kRows))); });
  std::vector<int64_t> all;
  for (int round = 0; std::ssize(all) < kRows; ++round) {
    EXPECT_FALSE(queue.dequeue_many(kRows + 1, {.timeout = std::chrono::microseconds(round % 30)}));
    for (int i = 0; i < 40 && std::ssize(all) < kRows; ++i) {
      const auto one = queue.dequeue();
      ASSERT_TRUE(one);
      all.push_back(value(*one));
    }
  }
  EXPECT_TRUE(put.get());
  EXPECT_EQ(queue.size(), 0);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, range(0, kRows));
}

TEST_P(Piecewise, WhoeverWaitsNextIsServedWithWhatWasGivenBack) {
  Queue queue = make(4);
  std::stop_source stop;
  auto big = later([&] { return queue.dequeue_many(5, {.stop = stop.get_token()}); });
  until_waiting(queue, 0, 1);
  auto next = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 2);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  eventually([&] { return queue.size() == 0; });
  EXPECT_FALSE(is_done(next));
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, big.get());
  std::vector<int64_t> taken = {value(*next.get())};
  EXPECT_EQ(queue.size(), 1);
  taken.push_back(value(*queue.dequeue()));
  EXPECT_EQ(in_order(taken), range(1, 3));
}

TEST_F(Rows, ABatchHasMemoryOfItsOwnAndRowsToo) {
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

TEST_F(Rows, RowsOfNoBytesPass) {
  FIFOQueue queue({.capacity = 4, .dtypes = {f32, bytes}, .shapes = {Shape{0}, Shape{0}}});
  ASSERT_TRUE(queue.enqueue_many(
      Element{{Tensor::empty(f32, {2, 0}), Tensor::from(std::span<const std::string_view>(), {2, 0})}}));
  const Result<Element> taken = queue.dequeue_many(2);
  ASSERT_TRUE(taken);
  EXPECT_EQ((*taken)[0].shape(), (Shape{2, 0}));
}

TEST_F(Rows, AStopOrACloseEndsAnEnqueueManyThatNeverLacksRoom) {
  for (const bool close : {false, true}) {
    FIFOQueue queue(scalars(64));
    std::stop_source stop;
    std::atomic<bool> ended = false;
    auto taker = later([&] {
      for (int64_t taken = 0; queue.dequeue();) {
        if (++taken == 2'000'000) ended.wait(false);  // The other threads have not run yet.
      }
    });
    auto put = later([&] { return queue.enqueue_many(numbers(range(0, 5'000'000)), {.stop = stop.get_token()}); });
    eventually([&] { return queue.stats().dequeued > 1000; });
    if (close) {
      ASSERT_TRUE(queue.close(true));
    } else {
      stop.request_stop();
    }
    ended = true;
    ended.notify_all();
    EXPECT_FAILS(ErrorKind::Cancelled, put.get());
    EXPECT_LT(queue.stats().enqueued, 5'000'000);
    ASSERT_TRUE(queue.close(true));
    taker.get();
  }
}

// Fed without end, they never wait for long.
TEST_P(Many, ADequeueManyThatGetsElementsTimesOutAndGivesThemBack) {
  const Queue queue = make(-1);
  std::atomic<bool> is_over = false;
  auto put = later([&] {
    int64_t count = 0;
    while (!is_over) count += queue.enqueue(one(count)) ? 1 : 0;
    return count;
  });
  const Result<Element> batch = queue.dequeue_many(10'000'000, {.timeout = milliseconds(20)});
  is_over = true;
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, batch);
  const int64_t count = put.get();
  EXPECT_EQ(queue.size(), count);
}

TEST_P(Many, AnEnqueueManyThatFindsRoomTimesOut) {
  const Queue queue = make(2);
  std::atomic<bool> is_over = false;
  auto taken = later([&] {
    int64_t count = 0;
    while (!is_over) {
      count += queue.dequeue({.timeout = milliseconds(1)}) ? 1 : 0;
      if (count == 900'000) is_over.wait(false);  // So fast a machine has had its time.
    }
    return count;
  });
  const Result<void> put = queue.enqueue_many(rows(range(0, 1'000'000)), {.timeout = milliseconds(20)});
  is_over = true;
  is_over.notify_all();
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, put);
  const int64_t count = taken.get();
  EXPECT_EQ(count + queue.size(), queue.stats().enqueued);
}

TEST_P(Order, WaitingDequeuesAreServedInOrderOfArrival) {
  Queue queue = make(16);
  std::vector<std::future<Result<Element>>> waiting;
  for (int64_t i = 0; i < 6; ++i) {
    waiting.push_back(later([&] { return queue.dequeue(); }));
    until_waiting(queue, 0, i + 1);
  }
  for (int64_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(queue.enqueue(one(i)));
    EXPECT_EQ(value(*waiting[static_cast<size_t>(i)].get()), i);
  }
}

TEST_P(Order, WaitingEnqueuesAreServedInOrderOfArrival) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(0)));
  std::vector<std::future<Result<void>>> waiting;
  for (int64_t i = 1; i < 6; ++i) {
    waiting.push_back(later([this, &queue, i] { return queue.enqueue(one(i)); }));
    until_waiting(queue, i, 0);
  }
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(value(*queue.dequeue()), i);
}

TEST_P(Order, ABigDequeueManyHoldsUpLaterSingleDequeues) {
  Queue queue = make(16);
  auto big = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  auto single = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 2);
  ASSERT_TRUE(queue.enqueue_many(rows({0, 1})));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue({.timeout = milliseconds(2)}));
  EXPECT_FALSE(is_done(single));
  ASSERT_TRUE(queue.enqueue_many(rows({2, 3})));
  std::vector<int64_t> taken = values(*big.get());
  EXPECT_EQ(taken.size(), 3U);
  taken.push_back(value(*single.get()));
  EXPECT_EQ(in_order(taken), range(0, 4));
}

TEST_P(Order, ABigEnqueueManyHoldsUpLaterEnqueues) {
  Queue queue = make(2);
  auto big = later([&] { return queue.enqueue_many(rows(range(0, 4))); });
  until_waiting(queue, 1, 0);
  auto single = later([&] { return queue.enqueue(one(4)); });
  until_waiting(queue, 2, 0);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(one(9)));
  std::vector<int64_t> taken;
  while (taken.size() < 5) taken.push_back(value(*queue.dequeue()));
  EXPECT_EQ(in_order(taken), range(0, 5));
  EXPECT_TRUE(big.get());
  EXPECT_TRUE(single.get());
}

}  // namespace
}  // namespace headpond::internal
