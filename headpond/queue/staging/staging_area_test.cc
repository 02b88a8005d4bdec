// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/staging/staging_area.h"

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using ::testing::ElementsAre;
using Staging = QueueTest;

constexpr std::chrono::nanoseconds kNone{0};

StagingOptions options(int64_t capacity = kUnbounded, int64_t memory_limit = kUnbounded) {
  return {.dtypes = {i64}, .capacity = capacity, .memory_limit = memory_limit, .name = "dock"};
}
// A payload of so many bytes.
Element of_bytes(int64_t count) { return numbers(range(0, count / 8)); }

std::vector<int64_t> drain(const StagingArea& area) {
  std::vector<int64_t> all;
  while (auto element = area.get({.timeout = kNone})) all.push_back(value(*element));
  return all;
}
void until_waiting(const StagingArea& area, int64_t puts, int64_t gets) {
  eventually([&] { return area.waiting_puts() == puts && area.waiting_gets() == gets; });
}

TEST_F(Staging, WhatWasPutFirstComesFirstWithItsKeyAndOrigin) {
  const StagingArea area(options());
  for (const int64_t each : {1, 2, 3}) {
    Element element = number(each);
    element.key = static_cast<uint64_t>(each + 10);
    element.provenance = {.source = 1, .record = static_cast<uint64_t>(each)};
    ASSERT_TRUE(area.put(std::move(element)));
  }
  EXPECT_EQ(area.size(), 3);
  EXPECT_EQ(area.bytes(), 24);
  const Result<Element> first = area.get();
  ASSERT_TRUE(first);
  EXPECT_EQ(value(*first), 1);
  EXPECT_EQ(first->key, 11U);
  EXPECT_EQ(uint64_t{first->provenance.record}, 1U);
  EXPECT_THAT(drain(area), ElementsAre(2, 3));
  EXPECT_EQ(area.bytes(), 0);
}

TEST_F(Staging, WithoutLimitsAPutNeverWaits) {
  const StagingArea area(options());
  for (int64_t i = 0; i < 5000; ++i) ASSERT_TRUE(area.put(number(i), {.timeout = kNone}));
  EXPECT_EQ(drain(area), range(0, 5000));
}

TEST_F(Staging, APutWaitsWhileTheCapacityIsReached) {
  const StagingArea area(options(2));
  ASSERT_TRUE(area.put(number(1)) && area.put(number(2)));
  auto waiting = later([&] { return area.put(number(3)); });
  until_waiting(area, 1, 0);
  EXPECT_EQ(area.size(), 2);
  EXPECT_EQ(value(*area.get()), 1);
  EXPECT_TRUE(waiting.get());
  EXPECT_THAT(drain(area), ElementsAre(2, 3));
}

TEST_F(Staging, APutWaitsWhileTheMemoryLimitWouldBeExceeded) {
  const StagingArea area(options(0, 40));
  ASSERT_TRUE(area.put(of_bytes(24)));
  ASSERT_TRUE(area.put(of_bytes(16), {.timeout = kNone})) << "just within the limit";
  auto waiting = later([&] { return area.put(of_bytes(32)); });
  until_waiting(area, 1, 0);
  ASSERT_TRUE(area.get());
  until_waiting(area, 1, 0);
  EXPECT_EQ(area.bytes(), 16);
  ASSERT_TRUE(area.get());
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(area.bytes(), 32);
}

TEST_F(Staging, AnElementThatAloneIsAboveTheMemoryLimitIsResourceExhausted) {
  const StagingArea area(options(0, 40));
  EXPECT_FAILS_WITH(ErrorKind::ResourceExhausted,
                    "Attempted to insert tensors with combined size of '48' bytes into Staging Area with a memory "
                    "limit of '40': StagingArea 'dock'",
                    area.put(of_bytes(48)));
  EXPECT_EQ(area.size(), 0);
  EXPECT_TRUE(area.put(of_bytes(40), {.timeout = kNone}));
}

TEST_F(Staging, PutsAreServedInOrderOfArrivalASmallOneNotBeforeALargeOne) {
  const StagingArea area(options(0, 40));
  ASSERT_TRUE(area.put(of_bytes(24)));
  auto large = later([&] { return area.put(of_bytes(40)); });
  until_waiting(area, 1, 0);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.put(of_bytes(8), {.timeout = kNone}));
  auto small = later([&] { return area.put(of_bytes(8)); });
  until_waiting(area, 2, 0);
  ASSERT_TRUE(area.get());
  EXPECT_TRUE(large.get());
  EXPECT_FALSE(is_done(small));
  EXPECT_EQ((*area.get())[0].size(), 5);
  EXPECT_TRUE(small.get());
}

TEST_F(Staging, AGetWaitsForAnElementAndGetsAreServedInOrderOfArrival) {
  const StagingArea area(options());
  auto first = later([&] { return area.get(); });
  until_waiting(area, 0, 1);
  auto second = later([&] { return area.get(); });
  until_waiting(area, 0, 2);
  ASSERT_TRUE(area.put(number(1)) && area.put(number(2)));
  EXPECT_EQ(value(*first.get()), 1);
  EXPECT_EQ(value(*second.get()), 2);
}

TEST_F(Staging, APeekLooksAtAnIndexAndLeavesItInside) {
  const StagingArea area(options());
  ASSERT_TRUE(area.put(number(1)) && area.put(number(2)));
  EXPECT_EQ(value(*area.peek(1)), 2);
  EXPECT_EQ(value(*area.peek(0)), 1);
  EXPECT_EQ(area.size(), 2);
  EXPECT_EQ(area.bytes(), 16);
}

TEST_F(Staging, WaitsOfManyThreadsAreAllCounted) {
  constexpr int kThreads = 8, kEach = 20;
  const StagingArea area(options());
  std::vector<std::future<void>> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.push_back(later([&] {
      for (int i = 0; i < kEach; ++i) EXPECT_FALSE(area.get({.timeout = milliseconds(1)}));
    }));
  }
  for (auto& each : threads) each.get();
  EXPECT_EQ(area.stats().get_waits, kThreads * kEach);
}

TEST_F(Staging, APeekWaitsUntilItsIndexExists) {
  const StagingArea area(options());
  auto third = later([&] { return area.peek(2); });
  until_waiting(area, 0, 1);
  ASSERT_TRUE(area.put(number(1)) && area.put(number(2)));
  until_waiting(area, 0, 1);
  ASSERT_TRUE(area.put(number(3)));
  EXPECT_EQ(value(*third.get()), 3);
  EXPECT_EQ(area.size(), 3);
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "Peek(3) operation timed out", area.peek(3, {.timeout = kNone}));
}

TEST_F(Staging, APeekThatWaitsHoldsUpNoGetAndSeesWhatCameBeforeALaterGetTakesIt) {
  const StagingArea area(options());
  std::stop_source stop;
  auto never = later([&] { return area.peek(5, {.stop = stop.get_token()}); });
  until_waiting(area, 0, 1);
  auto peek = later([&] { return area.peek(0); });
  until_waiting(area, 0, 2);
  auto get = later([&] { return area.get(); });
  until_waiting(area, 0, 3);
  ASSERT_TRUE(area.put(number(7)));
  EXPECT_EQ(value(*peek.get()), 7);
  EXPECT_EQ(value(*get.get()), 7);
  stop.request_stop();
  EXPECT_FAILS(ErrorKind::Cancelled, never.get());
}

TEST_F(Staging, AnIndexBelowZeroIsRefusedAtOnce) {
  const StagingArea area(options());
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "StagingArea 'dock': expected an index of at least 0, received -1",
                    area.peek(-1));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.peek(INT64_MIN));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.peek(INT64_MAX, {.timeout = kNone}));
}

TEST_F(Staging, ClearDropsAllAndLetsPutsGoOn) {
  const StagingArea area(options(2, 40));
  ASSERT_TRUE(area.put(number(1)) && area.put(of_bytes(32)));
  auto waiting = later([&] { return area.put(of_bytes(40)); });
  until_waiting(area, 1, 0);
  area.clear();
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(area.size(), 1);
  EXPECT_EQ(area.bytes(), 40);
  area.clear();
  area.clear();
  EXPECT_EQ(area.size(), 0);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.get({.timeout = kNone}));
}

TEST_F(Staging, WhatWasClearedIsFreed) {
  const StagingArea area(options());
  Element element{Tensor::empty(i64, {100})};
  Buffer* const owner = element[0].owner();
  owner->ref();
  const BufferRef kept(owner);
  ASSERT_TRUE(area.put(std::move(element)));
  EXPECT_FALSE(kept->is_unique());
  area.clear();
  EXPECT_TRUE(kept->is_unique());
}

TEST_F(Staging, WithTimeoutZeroACallIsATry) {
  const StagingArea area(options(1));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded,
                    "Get operation timed out after 0 ms: StagingArea 'dock' has 0 elements of capacity 1",
                    area.get({.timeout = kNone}));
  EXPECT_TRUE(area.put(number(1), {.timeout = kNone}));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded,
                    "Put operation timed out after 0 ms: StagingArea 'dock' has 1 elements of capacity 1",
                    area.put(number(2), {.timeout = kNone}));
  EXPECT_TRUE(area.get({.timeout = kNone}));
}

TEST_F(Staging, ACallThatTimedOutChangesNothing) {
  const StagingArea area(options(1));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.get({.timeout = milliseconds(1)}));
  ASSERT_TRUE(area.put(number(1)));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.put(number(2), {.timeout = milliseconds(1)}));
  EXPECT_THAT(drain(area), ElementsAre(1));
  EXPECT_EQ(area.waiting_puts() + area.waiting_gets(), 0);
}

TEST_F(Staging, AWaitingCallIsCancelledByItsOwnStopAndTheOthersGoOn) {
  const StagingArea area(options(1));
  std::stop_source stop;
  auto get = later([&] { return area.get({.stop = stop.get_token()}); });
  auto peek = later([&] { return area.peek(0, {.stop = stop.get_token()}); });
  until_waiting(area, 0, 2);
  auto other = later([&] { return area.get(); });
  until_waiting(area, 0, 3);
  stop.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Get operation was cancelled: a stop was requested; StagingArea 'dock'",
                    get.get());
  EXPECT_FAILS(ErrorKind::Cancelled, peek.get());
  ASSERT_TRUE(area.put(number(1)));
  EXPECT_EQ(value(*other.get()), 1);
}

TEST_F(Staging, AStopThatWasRequestedBeforeCancelsBeforeAnythingMoves) {
  const StagingArea area(options());
  ASSERT_TRUE(area.put(number(1)));
  std::stop_source stop;
  stop.request_stop();
  const Wait stopped{.stop = stop.get_token()};
  EXPECT_FAILS(ErrorKind::Cancelled, area.put(number(2), stopped));
  EXPECT_FAILS(ErrorKind::Cancelled, area.get(stopped));
  EXPECT_FAILS(ErrorKind::Cancelled, area.peek(0, stopped));
  EXPECT_THAT(drain(area), ElementsAre(1));
}

TEST_F(Staging, WrongElementsAreRefusedAtOnceWithAreaComponentExpectedAndReceived) {
  const StagingArea area({.dtypes = {i64, f32}, .shapes = {Shape{}, Shape{2}}, .capacity = 1, .name = "dock"});
  const Tensor scalar = Tensor::scalar(int64_t{1});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "StagingArea 'dock': expected 2 components, received 1",
                    area.put(number(1)));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received 0", area.put(Element{}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                    "StagingArea 'dock': component 1: expected dtype float32, received int64",
                    area.put(Element{scalar, scalar}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected shape [2], received [0]",
                    area.put(Element{scalar, Tensor::empty(f32, {0})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected shape [], received [1]",
                    area.put(Element{numbers({1})[0], Tensor::empty(f32, {2})}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "without names",
                    area.put(Element::named({{"a", scalar}, {"b", Tensor::empty(f32, {2})}})));
  ASSERT_TRUE(area.put(Element{scalar, Tensor::empty(f32, {2})}));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.put(number(1)));
}

TEST_F(Staging, NamedElementsComeOutInTheAreasOrderWithNames) {
  const StagingArea area({.dtypes = {i64, i64}, .names = {"x", "y"}});
  const auto scalar = [](int64_t each) { return Tensor::scalar(each); };
  ASSERT_TRUE(area.put(Element::named({{"y", scalar(2)}, {"x", scalar(1)}})));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.put(Element{scalar(1), scalar(2)}));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.put(Element::named({{"x", scalar(1)}, {"z", scalar(2)}})));
  EXPECT_EQ((*area.peek(0))["y"].as<int64_t>()[0], 2);
  const Result<Element> got = area.get();
  ASSERT_TRUE(got);
  EXPECT_EQ(value(*got), 1);
  EXPECT_EQ((*got)["x"].as<int64_t>()[0], 1);
}

TEST_F(Staging, ElementsWithoutValuesAndTextsPass) {
  const StagingArea area({.dtypes = {i64, bytes}, .memory_limit = 1000});
  ASSERT_TRUE(area.put(Element{Tensor::empty(i64, {0, 5}), Tensor::scalar("deep")}));
  EXPECT_GT(area.bytes(), 3);
  const Result<Element> got = area.get();
  ASSERT_TRUE(got);
  EXPECT_EQ((*got)[0].shape(), (Shape{0, 5}));
  EXPECT_EQ((*got)[1].bytes_at(0), "deep");
  EXPECT_EQ(area.bytes(), 0);
}

TEST_F(Staging, OptionsThatContradictThemselvesAreRefusedWithTheNumbers) {
  EXPECT_REFUSES("StagingArea: without dtypes", StagingArea({.dtypes = {}}));
  EXPECT_REFUSES("2 shapes for 1 dtypes", StagingArea({.dtypes = {i64}, .shapes = {Shape{}, Shape{}}}));
  EXPECT_REFUSES("2 names for 1 dtypes", StagingArea({.dtypes = {i64}, .names = {"a", "b"}}));
  EXPECT_REFUSES("twice", StagingArea({.dtypes = {i64, i64}, .names = {"a", "a"}}));
  EXPECT_REFUSES("unknown dimension", StagingArea({.dtypes = {i64}, .shapes = {Shape{kUnknown}}}));
}

TEST_F(Staging, UnboundedIsTheSameNumberAsForQueuesOrTensorFlows) {
  EXPECT_EQ(StagingOptions{}.capacity, kUnbounded);
  EXPECT_EQ(StagingOptions{}.memory_limit, kUnbounded);
  for (const int64_t none : {kUnbounded, int64_t{0}}) {
    const StagingArea area(options(none, none));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(area.put(number(i), {.timeout = milliseconds(0)}));
  }
  const StagingArea first({.dtypes = {i64}, .shared_name = "jetty"});
  ASSERT_TRUE(first.put(number(1)));
  EXPECT_EQ(StagingArea({.dtypes = {i64}, .capacity = 0, .memory_limit = 0, .shared_name = "jetty"}).size(), 1);
}

TEST_F(Staging, OneSharedNameIsOneAreaAsLongAsItLives) {
  StagingOptions shared{.dtypes = {i64}, .capacity = 2, .shared_name = "quay"};
  {
    const StagingArea first(shared);
    const StagingArea second(shared);
    ASSERT_TRUE(first.put(number(1)));
    EXPECT_EQ(value(*second.get()), 1);
    ASSERT_TRUE(second.put(number(2)));
    EXPECT_EQ(second.name(), "quay");
  }
  shared.capacity = 3;
  EXPECT_EQ(StagingArea(shared).size(), 0) << "another area: the first is gone";
}

TEST_F(Staging, WhatASharedAreaHoldsGoesWithItsLastHandle) {
  const int64_t before = BufferPool::shared().stats().bytes_in_use;
  {
    const StagingArea area({.dtypes = {f32}, .shared_name = "store"});
    ASSERT_TRUE(area.put(Element{Tensor::empty(f32, {1000})}));
    EXPECT_GT(BufferPool::shared().stats().bytes_in_use, before);
  }
  EXPECT_EQ(BufferPool::shared().stats().bytes_in_use, before);
}

TEST_F(Staging, UnlikeOptionsOfOneSharedNameAreRefusedWithTheDifference) {
  const StagingOptions shared{.dtypes = {i64}, .capacity = 2, .shared_name = "pier"};
  const StagingArea first(shared);
  StagingOptions other = shared;
  other.capacity = 3;
  EXPECT_REFUSES("shared StagingArea 'pier' has capacity 2, but was asked for with 3", StagingArea(other));
  other = shared;
  other.memory_limit = 8;
  EXPECT_REFUSES("memory_limit -1, but was asked for with 8", StagingArea(other));
  other = shared;
  other.dtypes = {f32};
  EXPECT_REFUSES("dtypes", StagingArea(other));
  other = shared;
  other.shapes = {Shape{3}};
  EXPECT_REFUSES("shapes , but was asked for with [3]", StagingArea(other));
  other = shared;
  other.names = {"x"};
  EXPECT_REFUSES("names", StagingArea(other));
  EXPECT_EQ(StagingArea(shared).size(), 0);
}

TEST_F(Staging, StatsTellSizesAsPutsLeaveAndGetsFindThem) {
  const StagingArea area(options(3));
  for (const int64_t size : {8, 24, 40}) ASSERT_TRUE(area.put(of_bytes(size)));
  EXPECT_EQ(area.stats().bytes, 72);
  ASSERT_TRUE(area.peek(1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(area.get());
  EXPECT_FALSE(area.get({.timeout = kNone}));
  const StagingStats stats = area.stats();
  EXPECT_EQ(std::tuple(stats.puts, stats.gets, stats.size, stats.size_peak), std::tuple(3, 3, 0, 3));
  EXPECT_EQ(std::pair(stats.bytes, stats.bytes_peak), std::pair(int64_t{0}, int64_t{72}));
  EXPECT_DOUBLE_EQ(stats.put_size_mean, 2) << "1, 2, 3";
  EXPECT_DOUBLE_EQ(stats.get_size_mean, 1.5) << "3, 2, 1, 0";
  EXPECT_EQ(stats.put_waits + stats.get_waits + stats.put_wait_ns + stats.get_wait_ns, 0) << "nobody waited";
  EXPECT_EQ(stats.capacity, 3);
}

TEST_F(Staging, StatsTellHowLongEachSideWaited) {
  const StagingArea area(options(1));
  auto got = later([&] { return area.get(); });
  until_waiting(area, 0, 1);
  std::this_thread::sleep_for(milliseconds(20));
  ASSERT_TRUE(area.put(number(1)));
  ASSERT_TRUE(got.get());
  const StagingStats starved = area.stats();
  EXPECT_EQ(std::pair(starved.put_waits, starved.get_waits), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_GE(starved.get_wait_ns, 20'000'000);
  EXPECT_GE(starved.get_wait_p50_ns, 20'000'000);
  ASSERT_TRUE(area.put(number(1)));
  EXPECT_FALSE(area.put(number(2), {.timeout = milliseconds(20)})) << "in vain";
  const StagingStats full = area.stats();
  EXPECT_EQ(std::pair(full.put_waits, full.get_waits), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_GE(full.put_wait_ns, 20'000'000);
  EXPECT_GE(full.put_wait_p99_ns, 20'000'000);
  EXPECT_EQ(full.get_wait_ns, starved.get_wait_ns);
}

TEST_F(Staging, AnAreaThatNobodyNamedIsNumbered) {
  const StagingArea first({.dtypes = {i64}});
  const StagingArea second({.dtypes = {i64}});
  EXPECT_THAT(first.name(), ::testing::StartsWith("StagingArea"));
  EXPECT_NE(first.name(), second.name());
}

TEST_F(Staging, ACopyIsTheSameArea) {
  const StagingArea area(options());
  const StagingArea copy = area;  // NOLINT(performance-unnecessary-copy-initialization): that is what is asked.
  ASSERT_TRUE(area.put(number(1)));
  EXPECT_EQ(value(*copy.get()), 1);
}

TEST_F(Staging, WhoWaitsWhenTheLastHandleGoesIsCancelledAndUsesNothingThatIsGone) {
  auto area = std::make_unique<StagingArea>(options(1));
  auto copy = std::make_unique<StagingArea>(*area);
  ASSERT_TRUE(area->put(number(1)));
  auto put = later([&handle = *area] { return handle.put(number(2)); });
  auto peek = later([&handle = *area] { return handle.peek(1); });
  until_waiting(*copy, 1, 1);
  area.reset();
  EXPECT_EQ(copy->waiting_puts(), 1) << "there is a handle left";
  copy.reset();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "its last handle is gone", put.get());
  EXPECT_FAILS(ErrorKind::Cancelled, peek.get());
}

}  // namespace
}  // namespace headpond::internal
