// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/priority_queue.h"

#include <algorithm>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using ::testing::ElementsAre;
using Priority = QueueTest;

QueueOptions payload(int64_t capacity) {
  return {.capacity = capacity, .dtypes = {i64}, .shapes = {Shape{}}, .name = "pond"};
}
Element urgent(int64_t priority, int64_t value) { return Element{Tensor::scalar(priority), Tensor::scalar(value)}; }
Result<void> put(const PriorityQueue& queue, const std::vector<int64_t>& priorities) {
  return queue.enqueue_many(Element{numbers(priorities)[0], numbers(range(0, std::ssize(priorities)))[0]});
}
std::vector<int64_t> payloads(const Element& batch) {
  const auto all = batch[1].as<int64_t>();
  return {all.begin(), all.end()};
}
std::vector<int64_t> drain_payloads(const PriorityQueue& queue) {
  std::vector<int64_t> all;
  while (auto element = queue.try_dequeue()) all.push_back(payloads(*element)[0]);
  return all;
}

TEST_F(Priority, TheSmallestComesFirst) {
  const PriorityQueue queue(payload(-1));
  ASSERT_TRUE(put(queue, {5, -3, INT64_MAX, 0, INT64_MIN}));
  const Result<Element> first = queue.dequeue();
  ASSERT_TRUE(first);
  EXPECT_EQ(value(*first), INT64_MIN);
  EXPECT_EQ(payloads(*first)[0], 4);
  ASSERT_TRUE(queue.enqueue(urgent(-4, 9)));
  EXPECT_EQ(drain_payloads(queue), (std::vector<int64_t>{9, 1, 3, 0, 2}));
}

TEST_F(Priority, EqualOnesComeInTheOrderInWhichTheyCameIn) {
  const PriorityQueue queue(payload(1000));
  ASSERT_TRUE(put(queue, std::vector<int64_t>(500, 7)));
  EXPECT_EQ(payloads(*queue.dequeue_many(250)), range(0, 250));
  for (int64_t i = 500; i < 700; ++i) ASSERT_TRUE(queue.enqueue(urgent(7, i)));
  EXPECT_EQ(drain_payloads(queue), range(250, 700));
}

TEST_F(Priority, ABatchIsTheSmallestOfAllInsideWithTheirPriorities) {
  const PriorityQueue queue(payload(8));
  ASSERT_TRUE(put(queue, {4, 2, 9, 2, 1}));
  const Result<Element> batch = queue.dequeue_many(3);
  ASSERT_TRUE(batch);
  EXPECT_EQ((*batch)[0].shape(), Shape{3});
  EXPECT_THAT(values(*batch), ElementsAre(1, 2, 2));
  EXPECT_THAT(payloads(*batch), ElementsAre(4, 1, 3));
}

TEST_F(Priority, DequeueManyWaitsUntilAllAreInsideAndTakesTheSmallestThen) {
  const PriorityQueue queue(payload(4));
  ASSERT_TRUE(put(queue, {5, 6}));
  auto batch = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  EXPECT_EQ(queue.size(), 2);
  ASSERT_TRUE(queue.enqueue(urgent(1, 7)));
  EXPECT_THAT(values(*batch.get()), ElementsAre(1, 5, 6));
}

// More urgent elements that come while a batch is taken belong to the next one.
TEST_F(Priority, ABatchIsOfOneMoment) {
  constexpr int64_t kCount = 60'000;
  const PriorityQueue queue(payload(64));
  auto producer = later([&] {
    for (int64_t i = kCount; i > 0; --i) EXPECT_TRUE(queue.enqueue(urgent(i, i)));
  });
  for (int64_t taken = 0; taken < kCount; taken += 12) {
    const Result<Element> batch = queue.dequeue_many(12);
    ASSERT_TRUE(batch);
    const std::vector<int64_t> priorities = values(*batch);
    ASSERT_TRUE(std::is_sorted(priorities.begin(), priorities.end())) << testing::PrintToString(priorities);
  }
  producer.get();
}

TEST_F(Priority, UpToAllOfAQueueWithoutCapacityWaitsForItsEnd) {
  const PriorityQueue queue(payload(-1));
  ASSERT_TRUE(queue.enqueue(urgent(1, 1)));
  ASSERT_TRUE(queue.dequeue());
  auto all = later([&] { return queue.dequeue_up_to(INT64_MAX); });
  until_waiting(queue, 0, 1);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_dequeue());
  ASSERT_TRUE(put(queue, {3, 2}));
  ASSERT_TRUE(queue.close());
  EXPECT_THAT(values(*all.get()), ElementsAre(2, 3));
}

TEST_F(Priority, DequeueManyBeyondTheCapacityIsRefusedWhenAskedWithBothNumbers) {
  const PriorityQueue queue(payload(4));
  const auto check = [&] {
    EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                      "PriorityQueue 'pond': dequeue_many(5) needs that many elements inside at the same moment, but "
                      "the capacity is 4",
                      queue.dequeue_many(5));
  };
  check();
  ASSERT_TRUE(put(queue, {1, 2, 3, 4}));
  ASSERT_TRUE(queue.close());
  check();
  EXPECT_THAT(values(*queue.dequeue_many(4)), ElementsAre(1, 2, 3, 4));
}

TEST_F(Priority, WithoutACapacityAnyNumberCanBeAskedFor) {
  const PriorityQueue queue(payload(-1));
  ASSERT_TRUE(put(queue, range(0, 6000)));
  EXPECT_EQ(values(*queue.dequeue_many(6000)), range(0, 6000));
}

TEST_F(Priority, DequeueUpToBeyondTheCapacityWaitsForAFullQueue) {
  const PriorityQueue queue(payload(2));
  auto batch = later([&] { return queue.dequeue_up_to(5); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.enqueue(urgent(2, 0)));
  EXPECT_FALSE(is_done(batch));
  ASSERT_TRUE(queue.enqueue(urgent(1, 1)));
  EXPECT_THAT(values(*batch.get()), ElementsAre(1, 2));
  ASSERT_TRUE(queue.enqueue(urgent(3, 2)));
  ASSERT_TRUE(queue.close());
  EXPECT_THAT(values(*queue.dequeue_up_to(5)), ElementsAre(3));
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "(requested 5, current size 0)", queue.dequeue_up_to(5));
}

TEST_F(Priority, ATimedOutOrCancelledBatchLeavesAllInside) {
  const PriorityQueue queue(payload(4));
  ASSERT_TRUE(put(queue, {3, 1, 3}));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.dequeue_many(4, {.timeout = milliseconds(1)}));
  std::stop_source stop;
  auto batch = later([&] { return queue.dequeue_many(4, {.stop = stop.get_token()}); });
  until_waiting(queue, 0, 1);
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, batch.get());
  EXPECT_EQ(drain_payloads(queue), (std::vector<int64_t>{1, 0, 2}));
}

TEST_F(Priority, AClosedQueueWithTooFewKeepsThem) {
  const PriorityQueue queue(payload(4));
  ASSERT_TRUE(put(queue, {2, 1}));
  auto batch = later([&] { return queue.dequeue_many(3); });
  until_waiting(queue, 0, 1);
  ASSERT_TRUE(queue.close());
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange,
                    "PriorityQueue 'pond' is closed and has insufficient elements (requested 3, current size 2)",
                    batch.get());
  EXPECT_EQ(drain_payloads(queue), (std::vector<int64_t>{1, 0}));
}

TEST_F(Priority, MemoryThatTheSystemRefusesLeavesTheOrderAsItWas) {
  const PriorityQueue queue({.capacity = -1, .dtypes = {f32}, .shapes = {Shape{int64_t{1} << 46}}});
  const float value = 1;
  // One value that claims to be many: nobody reads it before the batch's memory was refused.
  for (uint64_t key = 0; key < 4; ++key) {
    Element element{Tensor::scalar(int64_t{5}), Tensor::view(&value, f32, {int64_t{1} << 46})};
    element.key = key;
    ASSERT_TRUE(queue.enqueue(std::move(element)));
  }
  EXPECT_FAILS(ErrorKind::ResourceExhausted, queue.dequeue_many(2));
  EXPECT_EQ(queue.size(), 4);
  for (uint64_t key = 0; key < 4; ++key) EXPECT_EQ(queue.dequeue()->key, key);
}

TEST_F(Priority, ThePriorityIsAnInt64Scalar) {
  const PriorityQueue queue(payload(4));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "PriorityQueue 'pond': component 0: expected shape [], received [2]",
                    queue.enqueue(Element{numbers({1, 2})[0], Tensor::scalar(int64_t{1})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected dtype",
                    queue.enqueue(Element{Tensor::scalar(1.0F), Tensor::scalar(int64_t{1})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected 2 components, received 1", queue.enqueue(number(1)));
  const PriorityQueue shapeless({.capacity = 4, .dtypes = {i64}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected shape []",
                    shapeless.enqueue(Element{numbers({1, 2})[0], Tensor::scalar(int64_t{1})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "shapes", shapeless.dequeue_many(1));
}

TEST_F(Priority, DtypesShapesAndNamesBeginWithThePriority) {
  const PriorityQueue queue(
      {.capacity = 4, .dtypes = {f32}, .shapes = {Shape{2}}, .names = {"urgency", "image"}, .name = "pond"});
  EXPECT_THAT(queue.dtypes(), ElementsAre(i64, f32));
  EXPECT_THAT(queue.shapes(), ElementsAre(Shape{}, Shape{2}));
  const Tensor image = Tensor::empty(f32, {2});
  ASSERT_TRUE(queue.enqueue(Element::named({{"image", image}, {"urgency", Tensor::scalar(int64_t{2})}})));
  ASSERT_TRUE(queue.enqueue(Element::named({{"urgency", Tensor::scalar(int64_t{1})}, {"image", image}})));
  EXPECT_EQ((*queue.dequeue())["urgency"].as<int64_t>()[0], 1);
  EXPECT_EQ((*queue.dequeue_many(1))["urgency"].as<int64_t>()[0], 2);
}

TEST_F(Priority, RefusesOptionsThatContradictThemselves) {
  EXPECT_REFUSES("without dtypes", PriorityQueue({.capacity = 1, .dtypes = {}}));
  EXPECT_REFUSES("capacity must not be 0", PriorityQueue({.capacity = 0, .dtypes = {i64}}));
  EXPECT_REFUSES("1 names for 2 dtypes, the priority counted in",
                 PriorityQueue({.capacity = 1, .dtypes = {i64}, .names = {"x"}}));
  EXPECT_REFUSES("3 shapes for 2 dtypes, the priority counted in",
                 PriorityQueue({.capacity = 1, .dtypes = {i64}, .shapes = {Shape{}, Shape{}}}));
  EXPECT_REFUSES("unknown dimension", PriorityQueue({.capacity = 1, .dtypes = {i64}, .shapes = {Shape{kUnknown}}}));
  QueueOptions limited = payload(4);
  limited.memory_limit = 15;
  EXPECT_REFUSES("memory limit of 15 bytes", PriorityQueue(limited));
  limited.memory_limit = 16;
  EXPECT_EQ(PriorityQueue(limited).capacity(), 4);
}

TEST_F(Priority, SharedNamesMustAgree) {
  QueueOptions options = payload(4);
  options.shared_name = "triage";
  const PriorityQueue first(options);
  const PriorityQueue second(options);
  ASSERT_TRUE(first.enqueue(urgent(1, 2)));
  EXPECT_EQ(second.size(), 1);
  EXPECT_REFUSES("type PriorityQueue, but was asked for with FIFOQueue", FIFOQueue(options));
  options.capacity = 5;
  EXPECT_REFUSES("capacity 4, but was asked for with 5", PriorityQueue(options));
  options.capacity = 4;
  options.dtypes = {f32};
  EXPECT_REFUSES("dtypes", PriorityQueue(options));
}

TEST_F(Priority, FromListChoosesAndNamesAreNumbered) {
  const PriorityQueue a({.capacity = 1, .dtypes = {i64}});
  const PriorityQueue b({.capacity = 1, .dtypes = {i64}});
  EXPECT_EQ(PriorityQueue::from_list(1, {a, b}).name(), b.name());
  EXPECT_THAT(b.name(), ::testing::StartsWith("priority_queue"));
  EXPECT_REFUSES("index -1", PriorityQueue::from_list(-1, {a, b}));
  EXPECT_REFUSES("different dtypes", PriorityQueue::from_list(0, {a, PriorityQueue({.capacity = 1, .dtypes = {f32}})}));
}

}  // namespace
}  // namespace headpond::internal
