// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/staging/map_staging_area.h"

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using ::testing::ElementsAre;
using MapStaging = QueueTest;

constexpr std::chrono::nanoseconds kNone{0};
const Wait kTry{.timeout = kNone};

StagingOptions singles(int64_t capacity = 0, int64_t memory_limit = 0) {
  return {.dtypes = {i64}, .capacity = capacity, .memory_limit = memory_limit, .name = "dock"};
}
// Three numbers an element.
StagingOptions triples(int64_t capacity = 0, int64_t memory_limit = 0) {
  return {.dtypes = {i64, i64, i64}, .capacity = capacity, .memory_limit = memory_limit, .name = "dock"};
}
Element fields(const std::vector<int64_t>& values) {
  Element element;
  for (const int64_t each : values) element.append(Tensor::scalar(each));
  return element;
}
std::vector<int64_t> all(const Element& element) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < element.size(); ++i) values.push_back(element[i].as<int64_t>()[0]);
  return values;
}
std::vector<int64_t> keys_in_order(const MapStagingArea& area) {
  std::vector<int64_t> keys;
  while (auto got = area.get({}, {}, kTry)) keys.push_back(got->key);
  return keys;
}
void until_waiting(const MapStagingArea& area, int64_t puts, int64_t gets) {
  eventually([&] { return area.waiting_puts() == puts && area.waiting_gets() == gets; });
}

TEST_F(MapStaging, AnOrderedAreaGivesTheSmallestKeyFirst) {
  const MapStagingArea area(singles(), true);
  for (const int64_t key : {int64_t{3}, int64_t{-5}, INT64_MAX, INT64_MIN, int64_t{0}}) {
    ASSERT_TRUE(area.put(key, number(key)));
  }
  EXPECT_THAT(keys_in_order(area), ElementsAre(INT64_MIN, -5, 0, 3, INT64_MAX));
}

TEST_F(MapStaging, AnUnorderedAreaGivesWhatWasCompleteFirst) {
  const MapStagingArea area(triples());
  ASSERT_TRUE(area.put(9, fields({1}), {0}));
  ASSERT_TRUE(area.put(4, fields({1, 2, 3})) && area.put(6, fields({1, 2, 3})));
  ASSERT_TRUE(area.put(9, fields({2, 3}), {1, 2}) && area.put(1, fields({1, 2, 3})));
  ASSERT_TRUE(area.get(6));
  EXPECT_THAT(keys_in_order(area), ElementsAre(4, 9, 1));
}

TEST_F(MapStaging, AGetOfAKeyWaitsForThatKey) {
  const MapStagingArea area(singles());
  auto five = later([&] { return area.get(5); });
  until_waiting(area, 0, 1);
  ASSERT_TRUE(area.put(4, number(40)));
  until_waiting(area, 0, 1);
  ASSERT_TRUE(area.put(5, number(50)));
  const Result<Keyed> got = five.get();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->key, 5);
  EXPECT_EQ(value(got->element), 50);
  EXPECT_EQ(area.size(), 1);
}

TEST_F(MapStaging, AGetWithoutAKeyWaitsForAnyAndGetsAreServedInOrderOfArrival) {
  const MapStagingArea area(singles());
  auto first = later([&] { return area.get(); });
  until_waiting(area, 0, 1);
  auto second = later([&] { return area.get(); });
  until_waiting(area, 0, 2);
  ASSERT_TRUE(area.put(8, number(0)) && area.put(7, number(0)));
  EXPECT_EQ(first.get()->key, 8);
  EXPECT_EQ(second.get()->key, 7);
}

TEST_F(MapStaging, PartsArePutAFewAtATimeAndTheKeyIsThereWhenAllAre) {
  const MapStagingArea area(triples());
  ASSERT_TRUE(area.put(7, fields({1, 3}), {0, 2}));
  EXPECT_EQ(area.size(), 0);
  EXPECT_EQ(area.incomplete_size(), 1);
  EXPECT_EQ(area.bytes(), 16);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.get(7, {}, kTry));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.get(7, {0}, kTry));  // Also for what is there already.
  auto waiting = later([&] { return area.get(7); });
  until_waiting(area, 0, 1);
  ASSERT_TRUE(area.put(7, fields({2}), {1}));
  EXPECT_THAT(all(waiting.get()->element), ElementsAre(1, 2, 3));
  EXPECT_EQ(area.size() + area.incomplete_size() + area.bytes(), 0);
}

TEST_F(MapStaging, AComponentThatIsThereAlreadyIsRefusedAndNothingOfThatPutIsIn) {
  const MapStagingArea area(triples(1));
  ASSERT_TRUE(area.put(7, fields({1, 2}), {0, 1}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                    "The tensor for index '1' for key '7' was already initialized: MapStagingArea 'dock'",
                    area.put(7, fields({9, 9}), {1, 2}));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.put(7, fields({9, 9, 9})));
  EXPECT_EQ(area.bytes(), 16);
  ASSERT_TRUE(area.put(7, fields({3}), {2}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "has the key complete",
                    area.put(7, fields({9, 9, 9})));  // At once, although there is no room.
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.put(7, fields({9}), {2}));
  EXPECT_THAT(all(area.get(7)->element), ElementsAre(1, 2, 3));
  EXPECT_TRUE(area.put(7, fields({4, 5, 6}))) << "a key that is gone may come again";
}

TEST_F(MapStaging, APutThatWaitedIsRefusedIfItsKeyCameInMeanwhile) {
  const MapStagingArea area(singles(1));
  ASSERT_TRUE(area.put(1, number(1)));
  auto first = later([&] { return area.put(2, number(20)); });
  until_waiting(area, 1, 0);
  auto second = later([&] { return area.put(2, number(21)); });
  until_waiting(area, 2, 0);
  ASSERT_TRUE(area.get(1));
  EXPECT_TRUE(first.get());
  EXPECT_FAILS(ErrorKind::InvalidArgument, second.get());
  EXPECT_EQ(value(area.get(2)->element), 20);
}

TEST_F(MapStaging, AGetOfSomeComponentsLeavesTheOthersUntilAllAreTaken) {
  const MapStagingArea area(triples(1));
  ASSERT_TRUE(area.put(7, fields({1, 2, 3})));
  const Result<Keyed> some = area.get(7, {0, 2});
  ASSERT_TRUE(some);
  EXPECT_THAT(all(some->element), ElementsAre(1, 3));
  EXPECT_EQ(area.size(), 1);
  EXPECT_EQ(area.bytes(), 8);
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                    "Tensor at index '0' for key '7' has already been removed: MapStagingArea 'dock'",
                    area.get(7, {0, 1}));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.get(7));
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.get());
  EXPECT_FAILS(ErrorKind::InvalidArgument, area.peek(7, {2}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "has the key complete", area.put(7, fields({1}), {0}));
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, area.put(8, fields({1, 2, 3}), {}, kTry));  // It counts until it is gone.
  const Result<Keyed> rest = area.get({}, {1});
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->key, 7);
  EXPECT_THAT(all(rest->element), ElementsAre(2));
  EXPECT_EQ(area.size() + area.bytes(), 0);
}

TEST_F(MapStaging, APeekTakesNothingAndWaitsForItsKey) {
  const MapStagingArea area(triples());
  auto waiting = later([&] { return area.peek(7, {1}); });
  until_waiting(area, 0, 1);
  ASSERT_TRUE(area.put(7, fields({1, 2, 3})));
  EXPECT_THAT(all(*waiting.get()), ElementsAre(2));
  EXPECT_THAT(all(*area.peek(7)), ElementsAre(1, 2, 3));
  EXPECT_EQ(area.size(), 1);
  EXPECT_EQ(area.bytes(), 24);
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "Peek of key '8' operation timed out", area.peek(8, {}, kTry));
}

TEST_F(MapStaging, APutWaitsWhileTheCapacityOfCompleteKeysIsReached) {
  const MapStagingArea area(triples(1));
  ASSERT_TRUE(area.put(1, fields({1, 2, 3})));
  EXPECT_TRUE(area.put(2, fields({1}), {0}, kTry)) << "an incomplete key counts for nothing";
  auto whole = later([&] { return area.put(3, fields({1, 2, 3})); });
  until_waiting(area, 1, 0);
  auto last_part = later([&] { return area.put(2, fields({2, 3}), {1, 2}); });
  until_waiting(area, 2, 0);
  EXPECT_TRUE(area.put(4, fields({1}), {0}, kTry)) << "those that wait hold up nobody";
  ASSERT_TRUE(area.get(1));
  EXPECT_TRUE(whole.get());
  EXPECT_FALSE(is_done(last_part));
  ASSERT_TRUE(area.get(3));
  EXPECT_TRUE(last_part.get());
  EXPECT_EQ(area.incomplete_size(), 1);
}

TEST_F(MapStaging, APutWaitsWhileTheMemoryLimitWouldBeExceeded) {
  const MapStagingArea area(triples(0, 40));
  ASSERT_TRUE(area.put(1, fields({1, 2, 3})) && area.put(2, fields({1}), {0}));
  auto waiting = later([&] { return area.put(3, fields({1, 2}), {0, 1}); });
  until_waiting(area, 1, 0);
  EXPECT_TRUE(area.put(2, fields({2}), {1}, kTry)) << "a smaller one passes by";
  ASSERT_TRUE(area.get(1, {0}));
  until_waiting(area, 1, 0);
  ASSERT_TRUE(area.get(1, {1})) << "what was taken of a key makes room";
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(area.bytes(), 40);
}

TEST_F(MapStaging, AKeyThatAloneIsAboveTheMemoryLimitIsResourceExhausted) {
  const MapStagingArea area(triples(0, 16));
  EXPECT_FAILS_WITH(ErrorKind::ResourceExhausted,
                    "Attempted to insert tensors with combined size of '24' bytes into Staging Area with a memory "
                    "limit of '16': MapStagingArea 'dock', key '5'",
                    area.put(5, fields({1, 2, 3})));
  ASSERT_TRUE(area.put(5, fields({1, 2}), {0, 1}));
  EXPECT_FAILS(ErrorKind::ResourceExhausted, area.put(5, fields({3}), {2}));
  EXPECT_EQ(area.bytes(), 16);
}

TEST_F(MapStaging, ClearDropsCompleteAndIncompleteKeysAndLetsPutsGoOn) {
  const MapStagingArea area(triples(1, 48), true);
  ASSERT_TRUE(area.put(1, fields({1, 2, 3})) && area.put(2, fields({1}), {0}));
  auto waiting = later([&] { return area.put(3, fields({4, 5, 6})); });
  until_waiting(area, 1, 0);
  area.clear();
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(area.size(), 1);
  EXPECT_EQ(area.incomplete_size(), 0);
  EXPECT_EQ(area.bytes(), 24);
  EXPECT_TRUE(area.put(2, fields({7}), {0})) << "nothing is left of the key";
  EXPECT_EQ(area.get()->key, 3);
}

TEST_F(MapStaging, WithTimeoutZeroACallIsATryAndATimeoutChangesNothing) {
  const MapStagingArea area(singles(1));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "Get operation timed out after 0 ms: MapStagingArea 'dock' has 0",
                    area.get({}, {}, kTry));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "Get of key '3' operation timed out",
                    area.get(3, {}, {.timeout = milliseconds(1)}));
  ASSERT_TRUE(area.put(1, number(1), {}, kTry));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "has 1 complete keys of capacity 1",
                    area.put(2, number(2), {}, {.timeout = milliseconds(1)}));
  EXPECT_THAT(keys_in_order(area), ElementsAre(1));
  EXPECT_EQ(area.incomplete_size() + area.waiting_puts() + area.waiting_gets(), 0);
}

TEST_F(MapStaging, AWaitingCallIsCancelledByItsOwnStopAndAStopBeforeMovesNothing) {
  const MapStagingArea area(singles(1));
  std::stop_source stop;
  const Wait stoppable{.stop = stop.get_token()};
  auto get = later([&] { return area.get({}, {}, stoppable); });
  auto peek = later([&] { return area.peek(1, {}, stoppable); });
  until_waiting(area, 0, 2);
  stop.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "a stop was requested", get.get());
  EXPECT_FAILS(ErrorKind::Cancelled, peek.get());
  EXPECT_FAILS(ErrorKind::Cancelled, area.put(1, number(1), {}, stoppable));
  EXPECT_EQ(area.size(), 0);
  ASSERT_TRUE(area.put(1, number(1)));
  EXPECT_FAILS(ErrorKind::Cancelled, area.get(1, {}, stoppable));
  EXPECT_EQ(area.size(), 1);
}

TEST_F(MapStaging, IndicesMustExistAndRise) {
  const MapStagingArea area(triples());
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "Index '3' was out of bounds '3'.", area.put(1, fields({1}), {3}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "Index '-1' was out of bounds", area.get(1, {-1}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "Indices are not strictly ordered: 1, 1", area.peek(1, {1, 1}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "not strictly ordered", area.put(1, fields({1, 2}), {1, 0}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "not strictly ordered", area.put(1, fields({1, 2}), {0, 0}));
  EXPECT_EQ(area.incomplete_size(), 0);
}

TEST_F(MapStaging, WrongElementsAreRefusedAtOnceWithAreaComponentExpectedAndReceived) {
  const MapStagingArea area({.dtypes = {i64, f32}, .shapes = {Shape{}, Shape{2}}, .capacity = 1, .name = "dock"});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                    "MapStagingArea 'dock': expected 2 components, or the indices of some, received 1",
                    area.put(1, number(1)));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected 1 components as there are indices, received 2",
                    area.put(1, fields({1, 2}), {0}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received 0", area.put(1, Element{}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received 0", area.put(1, Element{}, {0}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument,
                    "MapStagingArea 'dock': component 1: expected dtype float32, received int64",
                    area.put(1, number(1), {1}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected shape [2], received [0]",
                    area.put(1, Element{Tensor::empty(f32, {0})}, {1}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "without names", area.put(1, Element::named({{"a", Tensor()}}), {0}));
  EXPECT_EQ(area.incomplete_size(), 0);
}

TEST_F(MapStaging, NamesChooseTheComponentsOfAPutAndComeBackFromAGet) {
  const MapStagingArea area({.dtypes = {i64, i64, i64}, .names = {"x", "y", "z"}, .name = "dock"});
  const auto scalar = [](int64_t each) { return Tensor::scalar(each); };
  ASSERT_TRUE(area.put(1, Element::named({{"z", scalar(3)}, {"x", scalar(1)}})));
  EXPECT_EQ(area.incomplete_size(), 1);
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "or by some of these, received {w}",
                    area.put(1, Element::named({{"w", scalar(0)}})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "at indices 0, received {y}",
                    area.put(1, Element::named({{"y", scalar(2)}}), {0}));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "received one without names", area.put(1, number(2), {1}));
  ASSERT_TRUE(area.put(1, Element::named({{"y", scalar(2)}}), {1}));
  const Result<Keyed> some = area.get(1, {0, 2});
  ASSERT_TRUE(some);
  EXPECT_THAT(*some->element.names(), ElementsAre("x", "z"));
  EXPECT_EQ(some->element["z"].as<int64_t>()[0], 3);
  EXPECT_EQ((*area.peek(1, {1}))["y"].as<int64_t>()[0], 2);
}

TEST_F(MapStaging, AnElementKeepsItsKeyOriginAndComponentsWithoutValues) {
  const MapStagingArea area({.dtypes = {i64, bytes}});
  Element element{Tensor::empty(i64, {0, 3}), Tensor::scalar("deep")};
  element.key = 12;
  element.provenance = {.source = 2, .record = 5};
  ASSERT_TRUE(area.put(1, std::move(element)));
  const Result<Keyed> got = area.get();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->element.key, 12U);
  EXPECT_EQ(uint64_t{got->element.provenance.record}, 5U);
  EXPECT_EQ(got->element[0].shape(), (Shape{0, 3}));
  EXPECT_EQ(got->element[1].bytes_at(0), "deep");
}

TEST_F(MapStaging, OptionsThatContradictThemselvesOrASharedAreaAreRefused) {
  EXPECT_REFUSES("MapStagingArea: without dtypes", MapStagingArea({.dtypes = {}}));
  const StagingOptions shared{.dtypes = {i64}, .shared_name = "quay"};
  const MapStagingArea first(shared, true);
  ASSERT_TRUE(first.put(1, number(1)));
  EXPECT_EQ(MapStagingArea(shared, true).size(), 1);
  EXPECT_REFUSES("shared MapStagingArea 'quay' has ordered true, but was asked for with false", MapStagingArea(shared));
  StagingOptions other = shared;
  other.memory_limit = 9;
  EXPECT_REFUSES("memory_limit -1, but was asked for with 9", MapStagingArea(other, true));
  EXPECT_EQ(StagingArea(shared).size(), 0) << "a StagingArea of that name is another store, as in TensorFlow";
}

TEST_F(MapStaging, StatsCountKeysThatAreComplete) {
  const MapStagingArea area(triples());
  ASSERT_TRUE(area.put(1, fields({1}), {0}));
  EXPECT_EQ(area.stats().puts, 0);
  EXPECT_EQ(area.stats().bytes_peak, 8);
  ASSERT_TRUE(area.put(1, fields({2, 3}), {1, 2}) && area.put(2, fields({1, 2, 3})));
  ASSERT_TRUE(area.peek(1) && area.get(1, {0}));
  EXPECT_EQ(area.stats().gets, 0) << "two components are left";
  ASSERT_TRUE(area.get(1, {1, 2}) && area.get());
  const StagingStats stats = area.stats();
  EXPECT_EQ(std::tuple(stats.puts, stats.gets, stats.size, stats.size_peak), std::tuple(2, 2, 0, 2));
  EXPECT_EQ(std::pair(stats.bytes, stats.bytes_peak), std::pair(int64_t{0}, int64_t{48}));
  EXPECT_DOUBLE_EQ(stats.put_size_mean, 1.5) << "1, 2";
  EXPECT_NEAR(stats.get_size_mean, 5. / 3, 1e-9) << "2, 2, 1";
  EXPECT_EQ(stats.capacity, kUnbounded);
}

TEST_F(MapStaging, StatsTellHowLongEachSideWaited) {
  const MapStagingArea area(singles(1));
  auto got = later([&] { return area.get(5); });
  until_waiting(area, 0, 1);
  std::this_thread::sleep_for(milliseconds(20));
  ASSERT_TRUE(area.put(5, number(1)));
  ASSERT_TRUE(got.get());
  EXPECT_EQ(area.stats().put_waits, 0);
  EXPECT_EQ(area.stats().get_waits, 1);
  EXPECT_GE(area.stats().get_wait_p99_ns, 20'000'000);
  ASSERT_TRUE(area.put(1, number(1)));
  EXPECT_FALSE(area.put(2, number(2), {}, {.timeout = milliseconds(20)}));
  EXPECT_EQ(area.stats().put_waits, 1);
  EXPECT_GE(area.stats().put_wait_ns, 20'000'000);
}

TEST_F(MapStaging, WhoWaitsWhenTheLastHandleGoesIsCancelled) {
  auto area = std::make_unique<MapStagingArea>(singles());
  auto get = later([&handle = *area] { return handle.get(5); });
  until_waiting(*area, 0, 1);
  area.reset();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "its last handle is gone", get.get());
}

}  // namespace
}  // namespace headpond::internal
