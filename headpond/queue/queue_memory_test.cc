// SPDX-License-Identifier: Apache-2.0
// The memory limit of a queue: of elements of one size it is so many elements, of others their bytes are counted.
#include <gmock/gmock.h>

#include <numeric>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using Memory = QueueTest;

QueueOptions limited(int64_t capacity, int64_t memory_limit, std::vector<Shape> shapes = {}) {
  return {.capacity = capacity, .dtypes = {u8}, .shapes = std::move(shapes), .memory_limit = memory_limit};
}
Element of_size(int64_t size) { return Element{{Tensor::empty(u8, {size})}}; }
int64_t size_of(const Element& element) { return static_cast<int64_t>(element[0].byte_size()); }

TEST_F(Memory, OfElementsOfOneSizeAllowsSoMany) {
  for (const int64_t capacity : {int64_t{100}, kUnbounded}) {
    const FIFOQueue queue(limited(capacity, 35, {Shape{10}}));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.try_enqueue(of_size(10)));
    EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "memory limit 35 bytes", queue.try_enqueue(of_size(10)));
    EXPECT_EQ(queue.stats().capacity, 3);
    EXPECT_EQ(queue.capacity(), capacity) << "what was asked for";
    ASSERT_TRUE(queue.dequeue());
    EXPECT_TRUE(queue.try_enqueue(of_size(10)));
  }
}

TEST_F(Memory, LargerThanTheCapacityChangesNothing) {
  const FIFOQueue queue(limited(2, 1000, {Shape{10}}));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.try_enqueue(of_size(10)));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(of_size(10)));
}

TEST_F(Memory, OfElementsThatDifferInSizeCountsTheirBytes) {
  const FIFOQueue queue(limited(kUnbounded, 100));
  for (const int64_t size : {40, 0, 60, 0}) ASSERT_TRUE(queue.try_enqueue(of_size(size))) << size;
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "memory limit 100 bytes", queue.try_enqueue(of_size(1)));
  EXPECT_EQ(size_of(*queue.dequeue()), 40);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(of_size(41)));
  EXPECT_TRUE(queue.try_enqueue(of_size(40)));
  EXPECT_EQ(queue.stats().capacity, kUnbounded);
}

TEST_F(Memory, OfStringsCountsTheirCharacters) {
  const FIFOQueue queue({.capacity = kUnbounded, .dtypes = {bytes}, .shapes = {Shape{}}, .memory_limit = 1000});
  const Element text{{Tensor::scalar(std::string(400, 'x'))}};
  ASSERT_TRUE(queue.try_enqueue(text));
  ASSERT_TRUE(queue.try_enqueue(text));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(text));
}

TEST_F(Memory, TheCapacityHoldsBesideIt) {
  const FIFOQueue queue(limited(2, 100));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.try_enqueue(of_size(1)));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(of_size(1)));
}

TEST_F(Memory, AnElementThatNeverFitsIsRefusedAtOnce) {
  const FIFOQueue queue(limited(kUnbounded, 100));
  EXPECT_FAILS_WITH(ErrorKind::ResourceExhausted, "an element of 101 bytes is above the memory limit of 100",
                    queue.enqueue(of_size(101)));
  EXPECT_FAILS(ErrorKind::ResourceExhausted, queue.enqueue_many(Element{{Tensor::empty(u8, {2, 101})}}));
  EXPECT_EQ(queue.size(), 0);
  EXPECT_TRUE(queue.enqueue(of_size(100)));
}

TEST_F(Memory, AnEnqueueThatWaitsGoesOnWhenEnoughWasTaken) {
  const FIFOQueue queue(limited(kUnbounded, 100));
  for (const int64_t size : {30, 30, 40}) ASSERT_TRUE(queue.enqueue(of_size(size)));
  auto put = later([&] { return queue.enqueue(of_size(60)); });
  until_waiting(queue, 1, 0);
  ASSERT_TRUE(queue.dequeue());
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(is_done(put));
  ASSERT_TRUE(queue.dequeue());
  EXPECT_TRUE(put.get());
}

TEST_F(Memory, AnEnqueueThatWaitsEndsByAStopACloseOrItsTimeout) {
  const FIFOQueue queue(limited(kUnbounded, 10));
  ASSERT_TRUE(queue.enqueue(of_size(10)));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.enqueue(of_size(1), {.timeout = milliseconds(2)}));
  std::stop_source stop;
  auto stopped = later([&] { return queue.enqueue(of_size(1), {.stop = stop.get_token()}); });
  until_waiting(queue, 1, 0);
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, stopped.get());
  auto closed = later([&] { return queue.enqueue(of_size(1)); });
  until_waiting(queue, 1, 0);
  ASSERT_TRUE(queue.close(true));
  EXPECT_FAILS(ErrorKind::Cancelled, closed.get());
}

TEST_F(Memory, RowsComeInOneByOneAsTheyFit) {
  const FIFOQueue queue(limited(kUnbounded, 25));
  auto put = later([&] { return queue.enqueue_many(Element{{Tensor::empty(u8, {5, 10})}}); });
  until_waiting(queue, 1, 0);
  EXPECT_EQ(queue.size(), 2);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.dequeue());
  EXPECT_TRUE(put.get());
}

TEST_F(Memory, ElementsThatAreGivenBackCountAgain) {
  const PaddingFIFOQueue queue(limited(kUnbounded, 100, {Shape{kUnknown}}));
  ASSERT_TRUE(queue.enqueue(of_size(60)));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(2, {.timeout = milliseconds(2)}));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(of_size(41)));
  ASSERT_TRUE(queue.enqueue(of_size(40)));
  EXPECT_EQ((*queue.dequeue_many(2))[0].shape(), (Shape{2, 60}));
  EXPECT_TRUE(queue.try_enqueue(of_size(100)));
}

// Nothing could be taken otherwise, nor put.
TEST_F(Memory, TheMinimumOfAShuffleComesInWhateverItsBytes) {
  const RandomShuffleQueue queue(limited(10, 50), 2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.try_enqueue(of_size(40))) << i;
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(of_size(40)));
  ASSERT_TRUE(queue.try_dequeue());
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_dequeue());
  EXPECT_TRUE(queue.try_enqueue(of_size(40)));
}

TEST_F(Memory, BeyondTheLimitAnElementOfNoBytesWaitsToo) {
  const RandomShuffleQueue queue(limited(10, 50), 2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.try_enqueue(of_size(40))) << i;
  auto put = later([&] { return queue.enqueue(of_size(0)); });
  until_waiting(queue, 1, 0);
  ASSERT_TRUE(queue.try_dequeue());
  EXPECT_TRUE(put.get()) << "the minimum has room";
}

TEST_F(Memory, APriorityQueueNeedsElementsOfOneSize) {
  EXPECT_REFUSES("a memory limit needs elements of one size", PriorityQueue(limited(10, 100)));
  EXPECT_EQ(PriorityQueue(limited(10, 60, {Shape{12}})).stats().capacity, 3) << "the priority's 8 bytes counted in";
}

// Several producers and consumers: at no moment are more bytes inside, and all come out.
TEST_F(Memory, HoldsWhoeverPutsAndTakes) {
  constexpr int64_t kLimit = 1000, kEach = 2000;
  const FIFOQueue queue(limited(kUnbounded, kLimit));
  std::atomic<int64_t> put = 0, taken = 0, most = 0;  // Bytes: `put` when they are in, `taken` before they are out.
  std::vector<std::future<void>> calls;
  for (uint64_t side = 0; side < 2; ++side) {
    calls.push_back(later([&, side] {
      headpond::Random random(RandomKey{side});
      for (int64_t i = 0; i < kEach; ++i) {
        const auto size = static_cast<int64_t>(random.below(400));
        ASSERT_TRUE(queue.enqueue(of_size(size)));
        put += size;
      }
    }));
    calls.push_back(later([&] {
      for (int64_t i = 0; i < kEach; ++i) {
        const auto element = queue.dequeue();
        ASSERT_TRUE(element);
        taken += size_of(*element);
        most = std::max<int64_t>(most, put - taken);
      }
    }));
  }
  for (auto& call : calls) call.get();
  EXPECT_EQ(put, taken);
  EXPECT_LE(most, kLimit + 2 * 400) << "two that were taken may not be counted yet";
  EXPECT_GT(queue.stats().enqueue_waits, 0);
  EXPECT_TRUE(queue.try_enqueue(of_size(kLimit))) << "nothing is left over";
}

}  // namespace
}  // namespace headpond::internal
