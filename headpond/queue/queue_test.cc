// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/queue.h"

#include <gmock/gmock.h>

#include <ranges>

#include "headpond/queue/queue_test_internal.h"

// A sanitizer's allocator refuses memory as the system does, instead of ending the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace headpond::internal {
namespace {

static_assert(std::ranges::input_range<Queue> && std::ranges::input_range<const FIFOQueue>);

using Fifo = QueueTest;
using Shuffle = QueueTest;
using Building = QueueTest;
using Sharing = QueueTest;
using Names = QueueTest;

TEST_F(Fifo, PassesElementsInOrderBetweenThreads) {
  FIFOQueue queue({.capacity = 4, .dtypes = {i64}});
  auto producer = later([&] {
    for (int64_t i = 0; i < 20000; ++i) ASSERT_TRUE(queue.enqueue(number(i)));
    ASSERT_TRUE(queue.close());
  });
  int64_t expected = 0;
  for (const Element& element : queue) ASSERT_EQ(value(element), expected++);
  EXPECT_EQ(expected, 20000);
}

// 1: every place is used at once; 4,096: the largest ring; 10,000 and none: blocks of places that go round.
class Capacity : public Watched<::testing::TestWithParam<int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Capacities, Capacity, ::testing::Values(1, 2, 7, 4096, 4097, 10000, -1));

TEST_P(Capacity, FillsAndDrainsInOrderManyTimesRound) {
  const int64_t capacity = GetParam();
  FIFOQueue queue(scalars(capacity));
  int64_t put = 0;
  int64_t taken = 0;
  for (int64_t round = 0; round < 5; ++round) {
    const int64_t most = capacity < 0 ? 5000 : capacity;
    while (queue.size() < most) ASSERT_TRUE(queue.try_enqueue(number(put++)));
    if (capacity > 0) EXPECT_FAILS(ErrorKind::DeadlineExceeded, queue.try_enqueue(number(-1)));
    const int64_t rest = round % 3 == 2 ? 0 : queue.size() / (round + 2);
    while (queue.size() > rest) ASSERT_EQ(value(*queue.try_dequeue()), taken++);
  }
  EXPECT_EQ(queue.stats().enqueued, put);
}

TEST_P(Capacity, PassesInOrderBetweenThreadsAndKeepsWhatNobodyTook) {
  const int64_t capacity = GetParam();
  FIFOQueue queue({.capacity = capacity, .dtypes = {bytes}});
  constexpr int64_t kCount = 6000;
  auto producer = later([&] {
    for (int64_t i = 0; i < kCount; ++i) ASSERT_TRUE(queue.enqueue(Element{{Tensor::scalar(std::to_string(i))}}));
  });
  const int64_t kept = capacity < 0 ? kCount / 2 : std::min(kCount / 2, capacity);
  for (int64_t i = 0; i < kCount - kept; ++i) ASSERT_EQ((*queue.dequeue())[0].bytes_at(0), std::to_string(i));
  producer.get();
  EXPECT_EQ(queue.size(), kept);
  EXPECT_EQ((*queue.dequeue())[0].bytes_at(0), std::to_string(kCount - kept));
}

TEST_F(Fifo, OneProducersElementsKeepTheirOrderAmongThoseOfOthers) {
  FIFOQueue queue(scalars(3));
  constexpr int64_t kProducers = 4;
  constexpr int64_t kEach = 500;
  std::vector<std::future<void>> producers;
  for (int64_t p = 0; p < kProducers; ++p) {
    producers.push_back(later([&queue, p] {
      for (int64_t i = 0; i < kEach; ++i) ASSERT_TRUE(queue.enqueue(number(p * kEach + i)));
    }));
  }
  std::vector<int64_t> next(kProducers, 0);
  for (int64_t i = 0; i < kProducers * kEach; ++i) {
    const int64_t got = value(*queue.dequeue());
    ASSERT_EQ(got % kEach, next[static_cast<size_t>(got / kEach)]++);
  }
}

TEST_F(Fifo, ALoopEndsAtTheEndAndThrowsTheProducersError) {
  FIFOQueue queue(scalars(-1));
  ASSERT_TRUE(queue.enqueue_many(numbers({1, 2})));
  queue.close_with_error({ErrorKind::DataLoss, "damaged"});
  std::vector<int64_t> seen;
  try {
    for (const Element& element : queue) seen.push_back(value(element));
    FAIL() << "the error was lost";
  } catch (const Exception& thrown) {
    EXPECT_EQ(thrown.error().cause()->message(), "damaged");
  }
  EXPECT_EQ(seen, range(1, 3));
}

TEST_F(Fifo, IsARangeWhoseElementsMayBeMovedOut) {
  const FIFOQueue queue(scalars(8));
  for (int64_t i = 0; i < 6; ++i) ASSERT_TRUE(queue.enqueue(number(i)));
  ASSERT_TRUE(queue.close());
  std::vector<Element> odd;
  for (Element& element : queue | std::views::filter([](const Element& each) { return value(each) % 2 == 1; })) {
    odd.push_back(std::move(element));
  }
  ASSERT_EQ(odd.size(), 3U);
  EXPECT_EQ(value(odd[2]), 5);
}

TEST_F(Fifo, MemoryThatTheSystemRefusesIsAnErrorAndNothingIsLost) {
  FIFOQueue queue({.capacity = -1, .dtypes = {bytes, f32}, .shapes = {Shape{}, Shape{int64_t{1} << 46}}});
  const float value = 1;
  // One value that claims to be many: nobody reads it before the batch's memory was refused.
  const auto put = [&](std::string_view text) {
    return queue.enqueue(Element{{Tensor::scalar(text), Tensor::view(&value, f32, {int64_t{1} << 46})}});
  };
  ASSERT_TRUE(put("a") && put("b"));
  EXPECT_FAILS(ErrorKind::ResourceExhausted, queue.dequeue_many(2));
  EXPECT_EQ(queue.size(), 2);
  EXPECT_EQ((*queue.dequeue())[0].bytes_at(0), "a");
  EXPECT_EQ((*queue.dequeue())[0].bytes_at(0), "b");
}

TEST_F(Fifo, RowsOfNoBytesPassAlsoFromNowhere) {
  FIFOQueue queue({.capacity = 2, .dtypes = {u8}, .shapes = {Shape{0}}});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.enqueue(Element{Tensor::view(nullptr, u8, {0})}));
  EXPECT_EQ((*queue.dequeue_many(2))[0].shape(), (Shape{2, 0}));
  ASSERT_TRUE(queue.enqueue_many(Element{Tensor::view(nullptr, u8, {2, 0})}));
  EXPECT_EQ((*queue.dequeue())[0].shape(), Shape{0});
}

TEST_F(Fifo, NeverHoldsMoreThanItsCapacityWhoeverLooks) {
  const FIFOQueue queue(scalars(2));
  auto put = later([&]() -> Result<void> {
    while (true) HEADPOND_TRY(queue.enqueue(number(1)));
  });
  auto taken = later([&]() -> Result<void> {
    while (queue.dequeue()) continue;
    return {};
  });
  for (int look = 0; look < 20'000; ++look) {
    const int64_t size = queue.size();
    ASSERT_TRUE(size >= 0 && size <= 2) << size;
  }
  ASSERT_TRUE(queue.close(true));
  EXPECT_FAILS(ErrorKind::Cancelled, put.get());
  EXPECT_TRUE(taken.get());
}

TEST_F(Shuffle, AnOpenQueueKeepsItsMinimumAndAClosedOneGivesAll) {
  const RandomShuffleQueue queue(scalars(8), 3);
  ASSERT_TRUE(queue.enqueue_many(numbers(range(0, 5))));
  std::vector<int64_t> taken = drain(queue);
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "above its minimum of 3", queue.dequeue_many(1, {.timeout = {}}));
  ASSERT_TRUE(queue.close());
  std::ranges::copy(drain(queue), std::back_inserter(taken));
  std::ranges::sort(taken);
  EXPECT_EQ(taken, range(0, 5));
}

TEST_F(Shuffle, TheOrderFollowsFromTheSeedAlsoFromZero) {
  const auto order = [](uint64_t seed) {
    const RandomShuffleQueue queue(scalars(32), 0, seed);
    EXPECT_TRUE(queue.enqueue_many(numbers(range(0, 32))));
    return values(*queue.dequeue_many(32));
  };
  EXPECT_EQ(order(0), order(0));
  EXPECT_NE(order(0), order(1));
  EXPECT_NE(order(0), range(0, 32));
}

TEST_F(Building, RefusesOptionsThatContradictThemselvesWithTheNumbers) {
  EXPECT_REFUSES("capacity must not be 0", FIFOQueue({.capacity = 0, .dtypes = {i64}}));
  EXPECT_REFUSES("capacity 1099511627776 is more than any queue can hold",
                 FIFOQueue({.capacity = int64_t{1} << 40, .dtypes = {i64}}));
  EXPECT_NO_THROW(FIFOQueue({.capacity = (int64_t{1} << 40) - 1, .dtypes = {i64}}));
  EXPECT_REFUSES("without dtypes", FIFOQueue({.capacity = 1, .dtypes = {}}));
  EXPECT_REFUSES("2 shapes for 1 dtypes", FIFOQueue({.capacity = 1, .dtypes = {i64}, .shapes = {Shape{}, Shape{}}}));
  EXPECT_REFUSES("2 names for 1 dtypes", FIFOQueue({.capacity = 1, .dtypes = {i64}, .names = {"a", "b"}}));
  EXPECT_REFUSES("twice", FIFOQueue({.capacity = 1, .dtypes = {i64, i64}, .names = {"a", "a"}}));
  EXPECT_REFUSES("PaddingFIFOQueue", FIFOQueue({.capacity = 1, .dtypes = {i64}, .shapes = {Shape{kUnknown}}}));
}

TEST_F(Building, RefusesAMinimumThatNoElementCouldPass) {
  EXPECT_REFUSES("min_after_dequeue 4 must be below capacity 4", RandomShuffleQueue(scalars(4), 4));
  EXPECT_REFUSES("-1", RandomShuffleQueue(scalars(4), -1));
  EXPECT_REFUSES("min_after_dequeue", RandomShuffleQueue(scalars(-1), INT64_MAX));
  EXPECT_EQ(RandomShuffleQueue(scalars(4), 3).stats().min_after_dequeue, 3);
  QueueOptions limited = scalars(100);
  limited.memory_limit = 399;
  EXPECT_REFUSES("memory limit of 399 bytes", RandomShuffleQueue(limited, 49));
  EXPECT_EQ(RandomShuffleQueue(limited, 48).capacity(), 100);
}

// Numbers of the size that a slip of the finger makes.
TEST_F(Building, RefusesAFillBeyondTheMemoryLimitHoweverLargeTheNumbers) {
  constexpr int64_t kHuge = int64_t{1} << 39;
  QueueOptions options = scalars(kHuge);
  options.memory_limit = int64_t{1} << 30;
  EXPECT_REFUSES("minimum fill of 549755813888 elements of 8 bytes needs more than the memory limit of 1073741824",
                 RandomShuffleQueue(options, kHuge - 1));
  EXPECT_REFUSES("min_after_dequeue 549755813888 must be below capacity 549755813888",
                 RandomShuffleQueue(options, kHuge));
  EXPECT_EQ(RandomShuffleQueue(options, (int64_t{1} << 27) - 1).capacity(), kHuge);
  options.shapes = {Shape{kHuge}};
  EXPECT_REFUSES("elements of 4398046511104 bytes", RandomShuffleQueue(options, kHuge - 1));
  EXPECT_REFUSES("minimum fill of 1 elements of 4398046511104 bytes", FIFOQueue(options));
  options.capacity = -1;
  EXPECT_REFUSES("memory limit", RandomShuffleQueue(options, kHuge - 1));
}

TEST_F(Building, AHugeCapacityAllocatesNothingAhead) {
  FIFOQueue queue(scalars(int64_t{1} << 39));
  ASSERT_TRUE(queue.enqueue(number(1)));
  EXPECT_EQ(queue.capacity(), int64_t{1} << 39);
}

TEST_F(Building, AnyNumberBelowZeroIsNoBound) {
  QueueOptions options{.capacity = -2, .dtypes = {i64}, .shared_name = "sea", .memory_limit = INT64_MIN};
  const FIFOQueue queue(options);
  for (int64_t i = 0; i < 3; ++i) ASSERT_TRUE(queue.try_enqueue(number(i)));
  EXPECT_EQ(queue.capacity(), kUnbounded);
  EXPECT_EQ(queue.stats().capacity, kUnbounded);
  options.capacity = options.memory_limit = kUnbounded;
  EXPECT_EQ(FIFOQueue(options).size(), 3) << "the same options";
}

TEST_F(Building, ADefaultNameIsNumberedLikeTensorFlowsScopes) {
  QueueOptions options = scalars(1);
  static int runs = 0;  // Names are numbered for the life of the process.
  const std::string scope = "scope of run " + std::to_string(++runs);
  options.default_name = scope;
  const FIFOQueue first(options), second(options);
  options.shared_name = "shared in run " + std::to_string(runs);
  const FIFOQueue third(options);
  EXPECT_EQ(first.name(), scope);
  EXPECT_EQ(second.name(), scope + "_1");
  EXPECT_EQ(third.name(), scope + "_2");
  options.name = "own";
  options.shared_name = "";
  EXPECT_EQ(FIFOQueue(options).name(), "own");
}

TEST_F(Building, AQueueThatNobodyNamedIsNumbered) {
  const FIFOQueue first(scalars(1));
  const FIFOQueue second(scalars(1));
  EXPECT_THAT(first.name(), ::testing::StartsWith("fifo_queue"));
  EXPECT_NE(first.name(), second.name());
  EXPECT_THAT(RandomShuffleQueue(scalars(2), 1).name(), ::testing::StartsWith("random_shuffle_queue"));
}

TEST_F(Building, FromListChoosesAmongLikeQueues) {
  FIFOQueue a(scalars(1));
  FIFOQueue b(scalars(1));
  ASSERT_TRUE(b.enqueue(number(2)));
  EXPECT_EQ(value(*FIFOQueue::from_list(1, {a, b}).dequeue()), 2);
  EXPECT_REFUSES("index 2 into 2 queues", FIFOQueue::from_list(2, {a, b}));
  EXPECT_REFUSES("index -1", FIFOQueue::from_list(-1, {a, b}));
  EXPECT_REFUSES("0 queues", FIFOQueue::from_list(0, {}));
  const FIFOQueue other({.capacity = 1, .dtypes = {f32}});
  EXPECT_REFUSES("different dtypes", FIFOQueue::from_list(0, {a, other}));
  const RandomShuffleQueue c(scalars(4), 1);
  EXPECT_EQ(RandomShuffleQueue::from_list(0, {c}).name(), c.name());
  EXPECT_REFUSES("index 1", RandomShuffleQueue::from_list(1, {c}));
}

TEST_F(Sharing, OneNameIsOneQueueAsLongAsItLives) {
  QueueOptions options = scalars(2);
  options.shared_name = "pool";
  {
    FIFOQueue first(options);
    FIFOQueue second(options);
    ASSERT_TRUE(first.enqueue(number(5)));
    EXPECT_EQ(value(*second.dequeue()), 5);
    EXPECT_EQ(first.name(), "pool");
  }
  options.capacity = 9;
  EXPECT_EQ(FIFOQueue(options).capacity(), 9);
}

TEST_F(Sharing, UnlikeOptionsAreRefusedWithTheDifference) {
  QueueOptions options = scalars(4);
  options.shared_name = "ditch";
  const RandomShuffleQueue first(options, 2, 7);
  EXPECT_REFUSES("type RandomShuffleQueue, but was asked for with FIFOQueue", FIFOQueue(options));
  EXPECT_REFUSES("min_after_dequeue 2, but was asked for with 1", RandomShuffleQueue(options, 1, 7));
  EXPECT_REFUSES("seed 7, but was asked for with 8", RandomShuffleQueue(options, 2, 8));
  QueueOptions other = options;
  other.capacity = 5;
  EXPECT_REFUSES("capacity 4, but was asked for with 5", RandomShuffleQueue(other, 2, 7));
  other = options;
  other.dtypes = {f32};
  EXPECT_REFUSES("dtypes", RandomShuffleQueue(other, 2, 7));
  other = options;
  other.shapes = {Shape{3}};
  EXPECT_REFUSES("shapes", RandomShuffleQueue(other, 2, 7));
  other = options;
  other.names = {"x"};
  EXPECT_REFUSES("names", RandomShuffleQueue(other, 2, 7));
}

TEST_F(Names, NamedElementsComeOutInTheQueuesOrderWithNames) {
  FIFOQueue queue({.capacity = 2, .dtypes = {i64, f32}, .shapes = {Shape{}, Shape{}}, .names = {"x", "y"}});
  ASSERT_TRUE(queue.enqueue(Element::named({{"y", Tensor::scalar(1.5F)}, {"x", Tensor::scalar(int64_t{4})}})));
  ASSERT_TRUE(queue.enqueue(Element::named({{"x", Tensor::scalar(int64_t{5})}, {"y", Tensor::scalar(2.5F)}})));
  const Result<Element> one = queue.dequeue();
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)["y"].as<float>()[0], 1.5F);
  EXPECT_EQ(value(*one), 4);
  const Result<Element> batch = queue.dequeue_many(1);
  ASSERT_TRUE(batch);
  EXPECT_EQ((*batch)["x"].as<int64_t>()[0], 5);
}

TEST_F(Names, NamesAndNoNamesDoNotMix) {
  FIFOQueue named({.capacity = 2, .dtypes = {i64}, .names = {"x"}});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "{x}", named.enqueue(number(1)));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "{z}", named.enqueue(Element::named({{"z", number(1)[0]}})));
  FIFOQueue plain(scalars(2));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "{x}", plain.enqueue(Element::named({{"x", number(1)[0]}})));
}

}  // namespace
}  // namespace headpond::internal
