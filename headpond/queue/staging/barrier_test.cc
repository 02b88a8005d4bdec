// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/staging/barrier.h"

#include <fmt/format.h>

#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using ::testing::ElementsAre;
using Barriers = QueueTest;

const Wait kTry{.timeout = std::chrono::nanoseconds(0)};

BarrierOptions pairs() { return {.dtypes = {i64, i64}, .shapes = {Shape{}, Shape{}}, .name = "lock"}; }
Tensor column(const std::vector<int64_t>& values) { return numbers(values)[0]; }
std::vector<int64_t> column_of(const BarrierBatch& batch, size_t component) {
  const auto all = batch.values[component].as<int64_t>();
  return {all.begin(), all.end()};
}
// Completes keys, whose components are the given number and ten times it.
void complete(const Barrier& barrier, const std::string& key, int64_t number) {
  ASSERT_TRUE(barrier.insert_many(0, {key}, column({number})));
  ASSERT_TRUE(barrier.insert_many(1, {key}, column({10 * number})));
}
void until_waiting(const Barrier& barrier, int64_t takes) {
  eventually([&] { return barrier.waiting_takes() == takes; });
}

TEST_F(Barriers, PartsOfAKeyThatComeApartComeOutTogether) {
  const Barrier barrier(pairs());
  ASSERT_TRUE(barrier.insert_many(0, {"a", "b", "c"}, column({1, 2, 3})));
  EXPECT_EQ(barrier.ready_size(), 0);
  EXPECT_EQ(barrier.incomplete_size(), 3);
  ASSERT_TRUE(barrier.insert_many(1, {"c", "a"}, column({30, 10})));
  EXPECT_EQ(barrier.ready_size(), 2);
  EXPECT_EQ(barrier.incomplete_size(), 1);
  const Result<BarrierBatch> batch = barrier.take_many(2);
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->keys, ElementsAre("a", "c"));
  EXPECT_THAT(column_of(*batch, 0), ElementsAre(1, 3));
  EXPECT_THAT(column_of(*batch, 1), ElementsAre(10, 30));
  EXPECT_EQ(batch->values[0].shape(), Shape{2});
  EXPECT_EQ(barrier.ready_size(), 0);
}

TEST_F(Barriers, ThoseWhoseKeysCameFirstAreTakenFirstHoweverLateTheyWereComplete) {
  const Barrier barrier(pairs());
  ASSERT_TRUE(barrier.insert_many(0, {"z", "m"}, column({1, 2})) && barrier.insert_many(0, {"a"}, column({3})));
  for (const char* key : {"a", "m", "z"}) ASSERT_TRUE(barrier.insert_many(1, {key}, column({0})));
  EXPECT_THAT(barrier.take_many(3)->keys, ElementsAre("z", "m", "a"));
}

TEST_F(Barriers, AKeysIndexIsTheNumberOfTheCallThatBroughtIt) {
  const Barrier barrier(pairs());
  ASSERT_TRUE(barrier.insert_many(0, {"a", "b"}, column({1, 2})));
  ASSERT_TRUE(barrier.insert_many(1, {"b"}, column({20}))) << "brings no new key, so it has no number";
  ASSERT_TRUE(barrier.insert_many(1, {"a", "c"}, column({10, 30})));
  ASSERT_TRUE(barrier.insert_many(0, {"c", "d"}, column({3, 4})) && barrier.insert_many(1, {"d"}, column({40})));
  const Result<BarrierBatch> batch = barrier.take_many(4);
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->keys, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(batch->indices, ElementsAre(INT64_MIN, INT64_MIN, INT64_MIN + 1, INT64_MIN + 2));
}

TEST_F(Barriers, AComponentOfAKeyThatIsInsertedTwiceIsRefusedAndNothingOfThatCallIsIn) {
  const Barrier barrier(pairs());
  ASSERT_TRUE(barrier.insert_many(0, {"a"}, column({1})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "Key a already has a value for component 0 in barrier Barrier 'lock'",
                    barrier.insert_many(0, {"b", "a"}, column({2, 9})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "Key c already has a value for component 1",
                    barrier.insert_many(1, {"a", "c", "c"}, column({10, 1, 2})));
  EXPECT_EQ(barrier.incomplete_size(), 1);
  EXPECT_EQ(barrier.ready_size(), 0);
  ASSERT_TRUE(barrier.insert_many(1, {"a"}, column({10})));
  EXPECT_THAT(column_of(*barrier.take_many(1), 0), ElementsAre(1));
}

TEST_F(Barriers, AReadyKeyMayBeginAnew) {
  const Barrier barrier(pairs());
  complete(barrier, "a", 1);
  complete(barrier, "a", 2);
  EXPECT_THAT(column_of(*barrier.take_many(2), 1), ElementsAre(10, 20));
  const Barrier single({.capacity = -1, .dtypes = {i64}, .shapes = {Shape{}}});
  ASSERT_TRUE(single.insert_many(0, {"x", "x"}, column({1, 2})));
  EXPECT_EQ(single.incomplete_size(), 0);
  EXPECT_THAT(single.take_many(2)->keys, ElementsAre("x", "x"));
}

TEST_F(Barriers, ATakeWaitsUntilSoManyAreReady) {
  const Barrier barrier(pairs());
  auto taken = later([&] { return barrier.take_many(2, true); });
  until_waiting(barrier, 1);
  complete(barrier, "a", 1);
  ASSERT_TRUE(barrier.insert_many(0, {"b", "c"}, column({2, 3})));
  until_waiting(barrier, 1);
  EXPECT_EQ(barrier.ready_size(), 1) << "nothing is taken before all can be";
  ASSERT_TRUE(barrier.insert_many(1, {"c"}, column({30})));
  EXPECT_THAT(taken.get()->keys, ElementsAre("a", "c"));
}

TEST_F(Barriers, TakesAreServedInOrderOfArrivalAndALargeOneHoldsUpThoseAfterIt) {
  const Barrier barrier(pairs());
  auto large = later([&] { return barrier.take_many(2); });
  until_waiting(barrier, 1);
  auto small = later([&] { return barrier.take_many(1); });
  until_waiting(barrier, 2);
  complete(barrier, "a", 1);
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, barrier.take_many(1, false, kTry));
  complete(barrier, "b", 2);
  EXPECT_THAT(large.get()->keys, ElementsAre("a", "b"));
  complete(barrier, "c", 3);
  EXPECT_THAT(small.get()->keys, ElementsAre("c"));
}

TEST_F(Barriers, InsertManyNeverWaits) {
  const Barrier barrier(pairs());
  for (int64_t i = 0; i < 2000; ++i) complete(barrier, std::to_string(i), i);
  EXPECT_EQ(barrier.ready_size(), 2000);
  EXPECT_EQ(column_of(*barrier.take_many(2000), 0), range(0, 2000));
}

TEST_F(Barriers, AfterACloseNewKeysAreCancelledAndOldOnesAreCompleted) {
  const Barrier barrier(pairs());
  ASSERT_TRUE(barrier.insert_many(0, {"a", "b"}, column({1, 2})));
  ASSERT_TRUE(barrier.close());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Barrier 'lock' is closed, but attempted to insert a brand new key: f",
                    barrier.insert_many(0, {"f"}, column({6})));
  EXPECT_FAILS(ErrorKind::Cancelled, barrier.insert_many(1, {"a", "f"}, column({1, 6})));
  EXPECT_EQ(barrier.ready_size(), 0) << "nothing of the refused call";
  EXPECT_TRUE(barrier.insert_many(0, {}, Tensor::empty(i64, {0})));
  ASSERT_TRUE(barrier.insert_many(1, {"a", "b"}, column({10, 20})));
  EXPECT_FAILS(ErrorKind::Cancelled,
               barrier.insert_many(0, {"a"}, column({1})));  // It is complete, so it would be new.
  EXPECT_THAT(barrier.take_many(2)->keys, ElementsAre("a", "b"));
}

TEST_F(Barriers, ATakeAfterTheCloseWaitsForKeysThatCanBeCompletedAndElseIsOutOfRange) {
  const Barrier barrier(pairs());
  complete(barrier, "a", 1);
  ASSERT_TRUE(barrier.insert_many(0, {"b"}, column({2})));
  ASSERT_TRUE(barrier.close());
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange,
                    "Barrier 'lock' is closed and has insufficient elements (requested 3, total size 2); 1 keys are",
                    barrier.take_many(3));
  auto both = later([&] { return barrier.take_many(2); });
  until_waiting(barrier, 1);
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "(requested 3, total size 2)",
                    barrier.take_many(3, false, kTry));  // Before the timeout, and not queued.
  ASSERT_TRUE(barrier.insert_many(1, {"b"}, column({20})));
  EXPECT_THAT(both.get()->keys, ElementsAre("a", "b"));
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange,
                    "Barrier 'lock' is closed and has insufficient elements (requested 1, total size 0)",
                    barrier.take_many(1));
}

TEST_F(Barriers, ATakeOfASmallBatchThatWaitsAtTheCloseReturnsWhatIsReady) {
  const Barrier barrier(pairs());
  complete(barrier, "a", 1);
  ASSERT_TRUE(barrier.insert_many(0, {"b"}, column({2})));
  auto taken = later([&] { return barrier.take_many(5, true); });
  until_waiting(barrier, 1);
  ASSERT_TRUE(barrier.close());
  EXPECT_THAT(taken.get()->keys, ElementsAre("a"));
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "(requested 5, total size 0); 1 keys are incomplete",
                    barrier.take_many(5, true));
  ASSERT_TRUE(barrier.insert_many(1, {"b"}, column({20})));
  EXPECT_THAT(barrier.take_many(5, true)->keys, ElementsAre("b"));
}

TEST_F(Barriers, TakesThatWaitAtACloseAreServedOrOutOfRange) {
  const Barrier barrier(pairs());
  complete(barrier, "a", 1);
  auto too_many = later([&] { return barrier.take_many(2); });
  until_waiting(barrier, 1);
  auto small = later([&] { return barrier.take_many(7, true); });
  until_waiting(barrier, 2);
  auto late = later([&] { return barrier.take_many(1, true); });
  until_waiting(barrier, 3);
  ASSERT_TRUE(barrier.close());
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "(requested 2, total size 1)", too_many.get());
  EXPECT_THAT(small.get()->keys, ElementsAre("a"));
  EXPECT_FAILS(ErrorKind::OutOfRange, late.get());
}

TEST_F(Barriers, AfterACloseWithCancelAnyInsertIsCancelledAndIncompleteKeysAreGone) {
  const Barrier barrier(pairs());
  complete(barrier, "a", 1);
  ASSERT_TRUE(barrier.insert_many(0, {"b"}, column({2})));
  auto both = later([&] { return barrier.take_many(2); });
  until_waiting(barrier, 1);
  ASSERT_TRUE(barrier.close());
  until_waiting(barrier, 1);
  EXPECT_FALSE(is_done(both)) << "the second can still be completed";
  ASSERT_TRUE(barrier.close(true));
  EXPECT_FAILS_WITH(ErrorKind::OutOfRange, "(requested 2, total size 1)", both.get());
  EXPECT_EQ(barrier.incomplete_size(), 0);
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Barrier 'lock' is closed. Pending enqueues cancelled: true",
                    barrier.insert_many(1, {"b"}, column({20})));
  EXPECT_FAILS(ErrorKind::Cancelled, barrier.insert_many(0, {"c"}, column({3})));
  EXPECT_FAILS(ErrorKind::Cancelled, barrier.insert_many(0, {}, Tensor::empty(i64, {0})));
  EXPECT_THAT(barrier.take_many(1)->keys, ElementsAre("a")) << "what is ready stays";
}

TEST_F(Barriers, ClosingTwiceIsCancelledAndClosingWithCancelIsNeverAnError) {
  const Barrier barrier(pairs());
  ASSERT_TRUE(barrier.close());
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Barrier 'lock' is already closed.", barrier.close());
  EXPECT_TRUE(barrier.close(true));
  EXPECT_TRUE(barrier.close(true));
  EXPECT_FAILS(ErrorKind::Cancelled, barrier.close());
}

TEST_F(Barriers, AWaitingTakeTimesOutOrIsStoppedAndTakesNothing) {
  const Barrier barrier(pairs());
  complete(barrier, "a", 1);
  EXPECT_FAILS_WITH(
      ErrorKind::DeadlineExceeded,
      "Take operation timed out after 1 ms: Barrier 'lock' has 1 ready and 0 incomplete keys, requested 2",
      barrier.take_many(2, true, {.timeout = milliseconds(1)}));
  std::stop_source stop;
  auto taken = later([&] { return barrier.take_many(2, false, {.stop = stop.get_token()}); });
  until_waiting(barrier, 1);
  auto next = later([&] { return barrier.take_many(1); });
  until_waiting(barrier, 2);
  stop.request_stop();
  EXPECT_FAILS_WITH(ErrorKind::Cancelled, "Take operation was cancelled: a stop was requested", taken.get());
  EXPECT_THAT(next.get()->keys, ElementsAre("a"));
  complete(barrier, "b", 2);
  EXPECT_FAILS(ErrorKind::Cancelled, barrier.take_many(1, false, {.stop = stop.get_token()}));
  EXPECT_EQ(barrier.ready_size(), 1);
}

TEST_F(Barriers, WrongArgumentsAreRefusedAtOnceByName) {
  const Barrier barrier({.capacity = -1, .dtypes = {i64, f32}, .shapes = {Shape{}, Shape{2}}, .name = "lock"});
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "Barrier 'lock': the component ID is out of range: 2 of 2 components",
                    barrier.insert_many(2, {"a"}, column({1})));
  EXPECT_FAILS(ErrorKind::InvalidArgument, barrier.insert_many(-1, {"a"}, column({1})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected dtype float32, received int64",
                    barrier.insert_many(1, {"a"}, column({1})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 1: expected shape [?,2], received [1,3]",
                    barrier.insert_many(1, {"a"}, Tensor::empty(f32, {1, 3})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "component 0: expected a batch of rows, received a scalar",
                    barrier.insert_many(0, {"a"}, Tensor::scalar(int64_t{1})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "expected 1 rows of component 0, one per key, received 2",
                    barrier.insert_many(0, {"a"}, column({1, 2})));
  EXPECT_FAILS(ErrorKind::InvalidArgument, barrier.insert_many(0, {"a"}, Tensor::empty(i64, {0})));
  EXPECT_FAILS_WITH(ErrorKind::InvalidArgument, "at least 0, received -1", barrier.take_many(-1));
  EXPECT_EQ(barrier.incomplete_size(), 0);
}

TEST_F(Barriers, ATakeOfNothingIsEmptyAtOnceAlsoWhenClosed) {
  const Barrier barrier(pairs());
  auto waiting = later([&] { return barrier.take_many(1); });
  until_waiting(barrier, 1);
  for (int i = 0; i < 2; ++i) {
    const Result<BarrierBatch> none = barrier.take_many(0);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->values[1].shape(), Shape{0});
    EXPECT_TRUE(none->keys.empty() && none->indices.empty());
    ASSERT_TRUE(barrier.close(true));
  }
  EXPECT_FAILS(ErrorKind::OutOfRange, waiting.get());
}

TEST_F(Barriers, TextsEmptyKeysAndNamesPass) {
  const Barrier barrier({.dtypes = {bytes, i64}, .shapes = {Shape{}, Shape{}}, .names = {"text", "number"}});
  const std::vector<std::string_view> texts = {"deep", ""};
  ASSERT_TRUE(barrier.insert_many(1, {"", "k"}, numbers({4, 5})[0]));
  ASSERT_TRUE(barrier.insert_many(0, {"", "k"}, Tensor::from(std::span<const std::string_view>(texts), {2})));
  const Result<BarrierBatch> batch = barrier.take_many(2);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->values["text"].bytes_at(0), "deep");
  EXPECT_EQ(batch->values["number"].as<int64_t>()[1], 5);
  EXPECT_THAT(batch->keys, ElementsAre("", "k"));
}

TEST_F(Barriers, ARowKeepsNoBatchAlive) {
  const Barrier barrier({.capacity = -1, .dtypes = {i64, i64}, .shapes = {Shape{50}, Shape{}}});
  auto values = std::make_unique<Tensor>(Tensor::empty(i64, {2, 50}));
  values->owner()->ref();
  const BufferRef kept(values->owner());
  ASSERT_TRUE(barrier.insert_many(0, {"a", "b"}, *values));
  EXPECT_FALSE(kept->is_unique());
  values.reset();
  EXPECT_TRUE(kept->is_unique());
}

TEST_F(Barriers, MemoryThatTheSystemRefusesIsAnErrorAndNothingIsLost) {
  const Shape giant{int64_t{1} << 46};
  const Barrier barrier({.capacity = -1, .dtypes = {i64, f32}, .shapes = {Shape{}, giant}});
  const float one = 1;
  ASSERT_TRUE(barrier.insert_many(0, {"a"}, column({1})));
  EXPECT_FAILS(ErrorKind::ResourceExhausted,
               barrier.insert_many(1, {"a"}, Tensor::view(&one, f32, {1, int64_t{1} << 46})));
  EXPECT_EQ(barrier.incomplete_size(), 1);
  EXPECT_EQ(barrier.ready_size(), 0);
}

TEST_F(Barriers, ABatchLiesInThePoolOfItsTakerWhoeverServesIt) {
  constexpr int64_t kRows = 100;  // Of a few the values would lie in the tensor itself.
  const Barrier barrier(pairs());
  BufferPool own;
  auto taken = later([&] {
    const CurrentPool current(own);
    return barrier.take_many(kRows);
  });
  until_waiting(barrier, 1);
  for (int64_t i = 0; i < kRows; ++i) complete(barrier, std::to_string(i), i);
  const Result<BarrierBatch> batch = taken.get();
  ASSERT_TRUE(batch);
  EXPECT_GE(own.stats().bytes_in_use, 2 * kRows * 8);
}

TEST_F(Barriers, OptionsThatContradictThemselvesAreRefusedWithTheNumbers) {
  BarrierOptions options = pairs();
  options.shapes.clear();
  EXPECT_REFUSES("all of the component shapes must be specified", Barrier(options));
  options.shapes = {Shape{}};
  EXPECT_REFUSES("1 shapes for 2 dtypes", Barrier(options));
  options.shapes = {Shape{}, Shape{kUnknown}};
  EXPECT_REFUSES("unknown dimension", Barrier(options));
  options.shapes = {Shape{}, Shape{2, 0}};
  EXPECT_REFUSES("shape [2,0] for component 1: it has no elements", Barrier(options));
  EXPECT_REFUSES("without dtypes", Barrier({.dtypes = {}, .shapes = {}}));
}

TEST_F(Barriers, TensorFlowsSpellingWithTheOptionsOfAQueueServesToo) {
  QueueOptions options{.capacity = -1, .dtypes = {i64}, .shapes = {Shape{}}, .name = "sluice"};
  EXPECT_EQ(Barrier(options).name(), "sluice");
  EXPECT_EQ(Barrier({.capacity = -1, .dtypes = {i64}, .shapes = {Shape{}}, .name = "sluice"}).name(), "sluice");
  for (const int64_t capacity : {32, 0}) {
    options.capacity = capacity;
    EXPECT_REFUSES(fmt::format("Barrier only accepts capacity=-1, not {}", capacity), Barrier(options));
  }
  options.capacity = -1;
  options.memory_limit = 64;
  EXPECT_REFUSES("memory_limit 64", Barrier(options));
  EXPECT_REFUSES("without dtypes", Barrier({.capacity = -1, .dtypes = {}}));
}

TEST_F(Barriers, OneSharedNameIsOneBarrierAndMustAgree) {
  BarrierOptions shared = pairs();
  shared.name = "";
  shared.shared_name = "weir";
  const Barrier first(shared);
  const Barrier second(shared);
  complete(first, "a", 1);
  EXPECT_THAT(second.take_many(1)->keys, ElementsAre("a"));
  shared.shapes = {Shape{}, Shape{2}};
  EXPECT_REFUSES("shared Barrier 'weir' has shapes [][], but was asked for with [][2]", Barrier(shared));
  EXPECT_EQ(second.name(), "weir");
  EXPECT_THAT(Barrier({.dtypes = {i64}, .shapes = {Shape{}}}).name(), ::testing::StartsWith("barrier"));
}

TEST_F(Barriers, TheLastHandleClosesWithCancelAndWhoWaitsUsesNothingThatIsGone) {
  auto barrier = std::make_unique<Barrier>(pairs());
  complete(*barrier, "a", 1);
  auto small = later([&handle = *barrier] { return handle.take_many(2, true); });
  until_waiting(*barrier, 1);
  auto other = later([&handle = *barrier] { return handle.take_many(1); });
  until_waiting(*barrier, 2);
  barrier.reset();
  EXPECT_THAT(small.get()->keys, ElementsAre("a"));
  EXPECT_FAILS(ErrorKind::OutOfRange, other.get());
}

}  // namespace
}  // namespace headpond::internal
