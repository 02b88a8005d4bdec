// SPDX-License-Identifier: Apache-2.0
// What becomes of calls that wait, and of what is inside, when handles go; for each type.
#include <gmock/gmock.h>

#include <optional>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/tensor/buffer.h"

namespace headpond::internal {
namespace {

class Handles : public TypeTest {};
INSTANTIATE_TEST_SUITE_P(Types, Handles, ::testing::ValuesIn(kTypes), name_of_type);

TEST_P(Handles, WithTheLastOneWaitingDequeuesEndAsOutOfRange) {
  for (int round = 0; round < 50; ++round) {
    std::optional<Queue> last = make(4);
    auto front = later([&] { return last->dequeue_many(3); });
    until_waiting(*last, 0, 1);
    auto queued = later([&] { return last->dequeue(); });
    until_waiting(*last, 0, 2);
    last.reset();
    EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "'pond' is closed", front.get());
    EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "'pond' is closed", queued.get());
  }
}

TEST_P(Handles, WithTheLastOneWaitingEnqueuesAndClosesEnd) {
  for (int round = 0; round < 50; ++round) {
    std::optional<Queue> last = make(1);
    ASSERT_TRUE(last->enqueue(one(1)));
    auto front = later([&] { return last->enqueue_many(rows({2, 3})); });
    until_waiting(*last, 1, 0);
    auto queued = later([&] { return last->enqueue(one(4)); });
    until_waiting(*last, 2, 0);
    auto closes = later([&] { return last->close(); });
    until_waiting(*last, 3, 0);
    last.reset();
    EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", front.get());
    EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Enqueue operation was cancelled", queued.get());
    EXPECT_TRUE(closes.get());
  }
}

TEST_P(Handles, AnotherOneKeepsTheQueueOpen) {
  std::optional<Queue> first = make(4);
  const Queue second = *first;
  auto waits = later([&] { return first->dequeue(); });
  until_waiting(second, 0, 1);
  first.reset();
  EXPECT_FALSE(second.is_closed());
  ASSERT_TRUE(second.enqueue(one(7)));
  EXPECT_EQ(value(*waits.get()), 7);
}

TEST_P(Handles, WhatIsInsideGoesWithTheLastCallThatWaits) {
  const int64_t before = BufferPool::shared().stats().bytes_in_use;
  const auto large = [&](int64_t i) {
    return maker_.with_priority(Element{{Tensor::empty(f32, {1000})}}, Tensor::scalar(i));
  };
  std::optional<Queue> last = make({.capacity = 2, .dtypes = {f32}, .shapes = {Shape{1000}}});
  ASSERT_TRUE(last->enqueue(large(1)) && last->enqueue(large(2)));
  auto puts = later([&] { return last->enqueue(large(3)); });
  until_waiting(*last, 1, 0);
  EXPECT_GT(BufferPool::shared().stats().bytes_in_use, before);
  last.reset();
  EXPECT_FAILS(ErrorKind::Cancelled, puts.get());
  EXPECT_EQ(BufferPool::shared().stats().bytes_in_use, before);
}

TEST_P(Handles, ASharedNameIsFreeAsSoonAsTheLastOneIsGone) {
  QueueOptions options = scalars(2);
  options.shared_name = "free again as " + GetParam();
  for (int round = 0; round < 20; ++round) {
    std::optional<Queue> last = make(options);
    auto waits = later([&] { return last->dequeue(); });
    until_waiting(*last, 0, 1);
    last.reset();
    const Queue fresh = make(options);
    EXPECT_FALSE(fresh.is_closed());
    EXPECT_FAILS(ErrorKind::OutOfRange, waits.get());
    ASSERT_TRUE(fresh.enqueue(one(1)));
  }
}

TEST_P(Handles, ARunnersThreadHoldsTheQueueUntilItEnds) {
  Coordinator coordinator;
  std::optional<Queue> queue = make(1);
  QueueRunner(*queue, {[copy = *queue, element = one(1)](const std::stop_token&) {
    return copy.enqueue(element);
  }}).start(coordinator);
  until_waiting(*queue, 1, 0);
  queue.reset();
  EXPECT_FALSE(coordinator.should_stop());
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
}

}  // namespace
}  // namespace headpond::internal
