// SPDX-License-Identifier: Apache-2.0
// What closing does to those who wait, and to those who come, for each type.
#include <gmock/gmock.h>

#include <atomic>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

class Close : public TypeTest {};
INSTANTIATE_TEST_SUITE_P(Types, Close, ::testing::ValuesIn(kTypes), name_of_type);

TEST_P(Close, AnEnqueueThatWaitedBeforeTheCloseStillCompletes) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto put = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  auto closed = later([&] { return queue.close(); });
  until_waiting(queue, 2, 0);
  auto late = later([&] { return queue.enqueue(one(3)); });
  until_waiting(queue, 3, 0);
  EXPECT_FALSE(queue.is_closed());
  EXPECT_FALSE(is_done(closed));
  EXPECT_EQ(value(*queue.dequeue()), 1);
  EXPECT_TRUE(put.get());
  EXPECT_TRUE(closed.get());
  EXPECT_TRUE(queue.is_closed());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "is closed.", late.get());
  EXPECT_EQ(value(*queue.dequeue()), 2);
  EXPECT_FAILS(ErrorKind::OutOfRange, queue.dequeue());
}

TEST_P(Close, ClosingTwiceIsCancelledWithItsText) {
  Queue queue = make(1);
  EXPECT_TRUE(queue.close());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Queue 'pond' is already closed.", queue.close());
  EXPECT_TRUE(queue.is_closed());
}

TEST_P(Close, ClosingWithCancelIsNeverAnError) {
  Queue queue = make(1);
  EXPECT_TRUE(queue.close(true));
  EXPECT_TRUE(queue.close(true));
  EXPECT_FAILS(ErrorKind::Cancelled, queue.close());
  Queue other = make(1);
  ASSERT_TRUE(other.close());
  EXPECT_TRUE(other.close(true));
}

TEST_P(Close, WaitingEnqueuesAreCancelledAndWhatIsInStays) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto front = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  auto queued = later([&] { return queue.enqueue(one(3)); });
  until_waiting(queue, 2, 0);
  ASSERT_TRUE(queue.close(true));
  EXPECT_TRUE(queue.is_closed());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", front.get());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", queued.get());
  EXPECT_EQ(drain(queue), std::vector<int64_t>{1});
  EXPECT_FAILS(ErrorKind::OutOfRange, queue.dequeue());
}

TEST_P(Close, AQueuedCloseThatIsOvertakenByACancelReturns) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto put = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  auto closed = later([&] { return queue.close(); });
  until_waiting(queue, 2, 0);
  ASSERT_TRUE(queue.close(true));
  EXPECT_TRUE(closed.get());
  EXPECT_FAILS(ErrorKind::Cancelled, put.get());
}

TEST_P(Close, OfTwoQueuedClosesTheSecondIsTooLate) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto put = later([&] { return queue.enqueue(one(2)); });
  until_waiting(queue, 1, 0);
  auto first = later([&] { return queue.close(); });
  until_waiting(queue, 2, 0);
  auto second = later([&] { return queue.close(); });
  until_waiting(queue, 3, 0);
  ASSERT_TRUE(queue.dequeue());
  EXPECT_TRUE(first.get());
  EXPECT_FAILS(ErrorKind::Cancelled, second.get());
  EXPECT_TRUE(put.get());
}

// A producer that is cancelled asks whether its consumer closed the queue: the answer must be yes by then.
TEST_P(Close, TheQueueIsClosedAsSoonAsACancelledEnqueueReturns) {
  for (int round = 0; round < 300; ++round) {
    Queue queue = make(1);
    ASSERT_TRUE(queue.enqueue(one(0)));
    std::vector<std::future<bool>> producers;
    for (int64_t i = 0; i < 3; ++i) {
      producers.push_back(later([&] { return !queue.enqueue(one(1)) && queue.is_closed(); }));
    }
    until_waiting(queue, 3, 0);
    ASSERT_TRUE(queue.close(true));
    for (auto& each : producers) EXPECT_TRUE(each.get());
  }
}

TEST_P(Close, WaitingDequeuesGetTheRestInOrderThenTheEnd) {
  Queue queue = make(4);
  auto many = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  auto single = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 2);
  auto last = later([&] { return queue.dequeue_up_to(5); });
  until_waiting(queue, 0, 3);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS(ErrorKind::OutOfRange, many.get());
  const Result<Element> first = single.get();
  const Result<Element> rest = last.get();
  ASSERT_TRUE(first && rest);
  ASSERT_EQ(values(*rest).size(), 1U);
  EXPECT_EQ(in_order({value(*first), values(*rest)[0]}), range(1, 3));
}

TEST_P(Close, DequeueManyOfMoreThanIsLeftGivesThePartialBatchBackInOrder) {
  Queue queue = make(4);
  auto batch = later([&] { return queue.dequeue_many(4); });
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2, 3})));
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange,
                    GetParam() + " 'pond' is closed and has insufficient elements (requested 4, current size 3)",
                    batch.get());
  EXPECT_EQ(in_order(drain(queue)), range(1, 4));
}

TEST_P(Close, DequeueUpToOnAnOpenQueueWaitsForAll) {
  Queue queue = make(4);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  auto batch = later([&] { return queue.dequeue_up_to(3); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue(one(3)));
  EXPECT_EQ(in_order(values(*batch.get())), range(1, 4));
}

TEST_P(Close, DequeueUpToOnAClosedQueueReturnsWhatIsLeftThenTheEnd) {
  Queue queue = make(4);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  ASSERT_TRUE(queue.close());
  const Result<Element> rest = queue.dequeue_up_to(3);
  ASSERT_TRUE(rest);
  EXPECT_EQ((*rest)[0].shape(), Shape{2});
  EXPECT_FAILS(ErrorKind::OutOfRange, queue.dequeue_up_to(3));
}

TEST_P(Close, DequeueUpToWaitsForTheEnqueuesThatAreStillQueued) {
  Queue queue = make(1);
  ASSERT_TRUE(queue.enqueue(one(1)));
  auto put = later([&] { return queue.enqueue_many(rows({2, 3})); });
  until_waiting(queue, 1, 0);
  auto closed = later([&] { return queue.close(); });
  until_waiting(queue, 2, 0);
  std::vector<int64_t> taken;
  Result<Element> batch = queue.dequeue_up_to(5);
  for (; batch; batch = queue.dequeue_up_to(5)) std::ranges::copy(values(*batch), std::back_inserter(taken));
  EXPECT_EQ(batch.error().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(taken, range(1, 4));
  EXPECT_TRUE(put.get());
  EXPECT_TRUE(closed.get());
}

TEST_P(Close, TheEndHasTheFailureAsItsCauseOnceAllGoodElementsAreOut) {
  Queue queue = make(4);
  ASSERT_TRUE(queue.enqueue_many(rows({1, 2})));
  queue.close_with_error({ErrorKind::DataLoss, "record 3 is damaged"});
  queue.set_failure({ErrorKind::Unknown, "a later one"});
  EXPECT_EQ(in_order(drain(queue)), range(1, 3));
  const Result<Element> end = queue.dequeue();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind(), ErrorKind::OutOfRange);
  ASSERT_NE(end.error().cause(), nullptr);
  EXPECT_EQ(end.error().cause()->message(), "record 3 is damaged");
}

TEST_P(Close, AnEndWithoutAFailureHasNoCause) {
  Queue queue = make(4);
  ASSERT_TRUE(queue.close(true));
  const Result<Element> end = queue.dequeue();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().cause(), nullptr);
}

TEST_P(Close, ExactlyOneOfManyClosesSucceeds) {
  for (int round = 0; round < 100; ++round) {
    Queue queue = make(1);
    std::vector<std::future<Result<void>>> closes;
    for (int i = 0; i < 4; ++i) closes.push_back(later([&] { return queue.close(); }));
    int good = 0;
    for (auto& each : closes) good += each.get() ? 1 : 0;
    ASSERT_EQ(good, 1);
  }
}

}  // namespace
}  // namespace headpond::internal
