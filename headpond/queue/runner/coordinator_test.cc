// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/runner/coordinator.h"

#include <gmock/gmock.h>
#include <pthread.h>

#include <atomic>
#include <bit>
#include <memory>

#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/queue/runner/manual_clock_test_internal.h"

namespace headpond::internal {
namespace {

using std::chrono::seconds;

// Keeps the log lines of the test to itself.
class Coordination : public QueueTest {
 protected:
  Coordination() {
    set_log_sink([this](LogLevel, std::string_view line) { lines_.emplace_back(line); });
  }
  ~Coordination() override { set_log_sink({}); }

  std::vector<std::string> lines_;
};

const Error kBad(ErrorKind::DataLoss, "bad record");
const Error kWorse(ErrorKind::Unknown, "worse");
const Error kEnd(ErrorKind::OutOfRange, "end");

Result<void> until_stop(const std::stop_token& stop) {
  while (!stop.stop_requested()) std::this_thread::sleep_for(milliseconds(1));
  return {};
}

TEST_F(Coordination, AFreshOneIsNeitherStoppedNorJoined) {
  Coordinator coordinator;
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_FALSE(coordinator.joined());
  EXPECT_FALSE(coordinator.wait_for_stop(milliseconds(1)));
  EXPECT_TRUE(coordinator.raise_requested_exception());
  EXPECT_TRUE(coordinator.join());
  EXPECT_TRUE(coordinator.joined());
}

TEST_F(Coordination, TheFirstErrorWinsAndIsLogged) {
  Coordinator coordinator;
  EXPECT_TRUE(coordinator.request_stop(kBad));
  EXPECT_TRUE(coordinator.request_stop(kWorse));
  EXPECT_FAILS_WITH(ErrorKind::DataLoss, "bad record", coordinator.raise_requested_exception());
  EXPECT_FAILS_WITH(ErrorKind::DataLoss, "bad record", coordinator.join());
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], ::testing::HasSubstr("bad record"));
}

TEST_F(Coordination, ATraceTellsThatItStopsAndWhy) {
  trace::start();
  for (const Error& why : {kBad, Error()}) {
    Coordinator coordinator;
    EXPECT_TRUE(coordinator.request_stop(why));
    (void)coordinator.join();
  }
  trace::stop();
  const auto threads = trace::collect();
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_EQ(threads[0].events.size(), 2U);
  EXPECT_STREQ(std::bit_cast<const char*>(threads[0].events[0].args.values[0]), "bad record");
  EXPECT_EQ(threads[0].events[1].args.values[0], trace::kNoArg);
}

TEST_F(Coordination, AnErrorAfterACleanStopIsDropped) {
  Coordinator coordinator;
  EXPECT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.request_stop(kBad));
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Coordination, ErrorsOfACleanKindCountAsAPlainStop) {
  Coordinator coordinator;
  EXPECT_TRUE(coordinator.request_stop(kEnd));
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_TRUE(coordinator.join());
  Coordinator strict({.clean_stop_kinds = {}});
  EXPECT_TRUE(strict.request_stop(kEnd));
  EXPECT_FAILS(ErrorKind::OutOfRange, strict.join());
  Coordinator lenient({.clean_stop_kinds = {ErrorKind::DataLoss}});
  EXPECT_TRUE(lenient.request_stop(kBad));
  EXPECT_TRUE(lenient.join());
}

TEST_F(Coordination, JoiningTwiceTellsTheSameErrorTwiceAndClearStopForgetsIt) {
  Coordinator coordinator;
  ASSERT_TRUE(coordinator.request_stop(kBad));
  EXPECT_FAILS(ErrorKind::DataLoss, coordinator.join());
  EXPECT_FAILS(ErrorKind::DataLoss, coordinator.join());
  coordinator.clear_stop();
  EXPECT_FALSE(coordinator.joined());
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_FALSE(coordinator.stop_token().stop_requested());
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Coordination, AfterAFinishedJoinRequestStopReturnsItsError) {
  Coordinator coordinator;
  ASSERT_TRUE(coordinator.join());
  EXPECT_FAILS(ErrorKind::DataLoss, coordinator.request_stop(kBad));
  EXPECT_TRUE(coordinator.request_stop(kEnd));
  EXPECT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Coordination, AThreadStartedAfterAJoinIsStoppedByTheDestructor) {
  Coordinator coordinator;
  ASSERT_TRUE(coordinator.join());
  coordinator.start("late", until_stop);
  EXPECT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.should_stop());
}

TEST_F(Coordination, JoinWaitsForThreadsThatEndByThemselves) {
  ManualClock clock(false);
  Coordinator coordinator({}, clock);
  std::atomic<bool> go = false;
  coordinator.start("one", [&](const std::stop_token&) -> Result<void> {
    while (!go) std::this_thread::yield();
    return {};
  });
  auto joined = later([&] { return coordinator.join(); });
  clock.until_somebody_waits();
  EXPECT_FALSE(is_done(joined));
  go = true;
  EXPECT_TRUE(joined.get());
  EXPECT_FALSE(coordinator.should_stop());
}

TEST_F(Coordination, AnErrorThatAThreadReturnsOrThrowsStopsTheOthers) {
  for (const bool throws : {false, true}) {
    Coordinator coordinator;
    coordinator.start("waits", until_stop);
    coordinator.start("fails", [&](const std::stop_token&) -> Result<void> {
      if (throws) throw std::runtime_error("thrown");
      return fail(ErrorKind::NotFound, "returned");
    });
    const Result<void> ended = coordinator.join();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind(), throws ? ErrorKind::Unknown : ErrorKind::NotFound);
    EXPECT_EQ(ended.error().message(), throws ? "thrown" : "returned");
  }
}

TEST_F(Coordination, AnExceptionOfThreeStagesKeepsItsCauses) {
  Coordinator coordinator;
  coordinator.start("fails", [&](const std::stop_token&) -> Result<void> {
    throw Exception(Error(ErrorKind::Unknown, "map", kBad));
  });
  const Result<void> ended = coordinator.join();
  ASSERT_FALSE(ended);
  ASSERT_NE(ended.error().cause(), nullptr);
  EXPECT_EQ(ended.error().cause()->message(), "bad record");
}

TEST_F(Coordination, LaggardsAreNamedOnceTheGracePeriodIsOver) {
  std::atomic<bool> go = false;
  ManualClock clock;
  Coordinator coordinator({}, clock);
  const auto lag = [&](const std::stop_token&) -> Result<void> {
    while (!go) std::this_thread::sleep_for(milliseconds(1));
    return {};
  };
  coordinator.start("slow-one", lag);
  auto inside = std::make_shared<int>();
  const std::weak_ptr<int> prompt = inside;
  coordinator.start("prompt", [own = std::move(inside)](const std::stop_token& stop) { return until_stop(stop); });
  coordinator.start("slow-two", lag);
  ASSERT_TRUE(coordinator.request_stop());
  auto joined = later([&] { return coordinator.join({.stop_grace_period = seconds(7)}); });
  clock.until_awaited(seconds(7));
  eventually([&] { return prompt.expired(); });
  clock.advance(seconds(7));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "Coordinator stopped with threads still running: slow-one slow-two",
                    joined.get());
  EXPECT_TRUE(coordinator.join({.stop_grace_period = milliseconds(0), .ignore_live_threads = true}));
  EXPECT_THAT(lines_, ::testing::Contains(::testing::HasSubstr("slow-one slow-two")));
  go = true;
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Coordination, ARecordedErrorGoesBeforeLaggards) {
  std::atomic<bool> go = false;
  Coordinator coordinator;
  coordinator.start("slow", [&](const std::stop_token&) -> Result<void> {
    while (!go) std::this_thread::sleep_for(milliseconds(1));
    return {};
  });
  ASSERT_TRUE(coordinator.request_stop(kBad));
  EXPECT_FAILS(ErrorKind::DataLoss, coordinator.join({.stop_grace_period = milliseconds(5)}));
  go = true;
}

TEST_F(Coordination, TheGracePeriodCountsFromTheStopAndNotFromTheJoin) {
  std::atomic<bool> go = false;
  ManualClock clock;
  Coordinator coordinator({}, clock);
  coordinator.start("slow", [&](const std::stop_token&) -> Result<void> {
    while (!go) std::this_thread::sleep_for(milliseconds(1));
    return {};
  });
  ASSERT_TRUE(coordinator.request_stop());
  clock.advance(seconds(100));
  auto joined = later([&] { return coordinator.join({.stop_grace_period = seconds(120)}); });
  clock.until_awaited(seconds(120));
  clock.advance_in_vain(seconds(19));
  EXPECT_FALSE(is_done(joined));
  clock.advance(seconds(1));
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "still running: slow", joined.get());
  EXPECT_FAILS(ErrorKind::DeadlineExceeded, coordinator.join());
  go = true;
}

TEST_F(Coordination, ThreadsStartedWhileAJoinWaitsAreNotAwaitedByIt) {
  ManualClock clock;
  Coordinator coordinator({}, clock);
  std::atomic<bool> started = false;
  coordinator.start("first", [&](const std::stop_token& stop) -> Result<void> {
    while (!started) std::this_thread::yield();
    (void)stop;
    return {};
  });
  auto joined = later([&] { return coordinator.join(); });
  clock.until_somebody_waits();
  coordinator.start("second", until_stop);
  started = true;
  EXPECT_TRUE(joined.get());
}

// Also where it gets the memory of one that was awaited.
TEST_F(Coordination, AThreadStartedInThePlaceOfOneThatEndedIsNotAwaited) {
  ManualClock clock;
  Coordinator coordinator({}, clock);
  std::atomic<int> ended = 0;
  std::atomic<bool> may_end = false;
  const auto short_one = [&](const std::stop_token&) -> Result<void> {
    ++ended;
    return {};
  };
  for (int i = 0; i < 8; ++i) coordinator.start("short", short_one);
  coordinator.start("long", [&](const std::stop_token&) -> Result<void> {
    while (!may_end) std::this_thread::yield();
    return {};
  });
  auto joined = later([&] { return coordinator.join(); });
  clock.until_somebody_waits();
  eventually([&] { return ended == 8; });
  for (int i = 0; i < 8; ++i) coordinator.start("later", until_stop);
  may_end = true;
  EXPECT_TRUE(joined.get());
}

TEST_F(Coordination, AThreadCannotJoinItsOwnCoordinator) {
  Coordinator coordinator;
  Result<void> inner;
  coordinator.start("self", [&](const std::stop_token&) -> Result<void> {
    inner = coordinator.join();
    return {};
  });
  EXPECT_TRUE(coordinator.join());
  EXPECT_FAILS_WITH(ErrorKind::FailedPrecondition, "self", inner);
}

TEST_F(Coordination, WaitForStopWakesAtTheStop) {
  ManualClock clock(false);
  Coordinator coordinator({}, clock);
  auto stopped = later([&] { return coordinator.wait_for_stop(); });
  auto in_time = later([&] { return coordinator.wait_for_stop(seconds(1000)); });
  clock.until_so_many_wait(2);
  EXPECT_FALSE(is_done(stopped) || is_done(in_time));
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(stopped.get());
  EXPECT_TRUE(in_time.get());
}

TEST_F(Coordination, WaitForStopWithoutAStopReturnsFalseWhenItsTimeIsOver) {
  ManualClock clock;
  Coordinator coordinator({}, clock);
  EXPECT_FALSE(coordinator.wait_for_stop(seconds(0)));
  auto stopped = later([&] { return coordinator.wait_for_stop(seconds(5)); });
  clock.until_awaited(seconds(5));
  clock.advance_in_vain(seconds(4));
  EXPECT_FALSE(is_done(stopped));
  clock.advance(seconds(1));
  EXPECT_FALSE(stopped.get());
}

TEST_F(Coordination, StopCallbacksMayCallBackIntoTheCoordinator) {
  Coordinator coordinator;
  bool stopped = false;
  Result<void> told;
  const std::stop_callback callback(coordinator.stop_token(), [&] {
    stopped = coordinator.should_stop();
    told = coordinator.raise_requested_exception();
    (void)coordinator.request_stop(kWorse);
  });
  ASSERT_TRUE(coordinator.request_stop(kBad));
  EXPECT_TRUE(stopped);
  EXPECT_FAILS(ErrorKind::DataLoss, told);
}

TEST_F(Coordination, StopOnExceptionKeepsWhatTheBodyThrowsOrReturns) {
  Coordinator first;
  first.stop_on_exception([] {});
  EXPECT_FALSE(first.should_stop());
  first.stop_on_exception([] { throw Exception(kBad); });
  EXPECT_FAILS(ErrorKind::DataLoss, first.join());
  Coordinator second;
  second.stop_on_exception([]() -> Result<void> { return fail(kWorse); });
  EXPECT_FAILS(ErrorKind::Unknown, second.join());
  Coordinator third;
  third.stop_on_exception([] { throw 5; });
  EXPECT_FAILS(ErrorKind::Unknown, third.join());
}

TEST_F(Coordination, TheDestructorStopsAndWaitsForLaggards) {
  std::atomic<bool> ended = false;
  {
    Coordinator coordinator;
    coordinator.start("waits", [&](const std::stop_token& stop) -> Result<void> {
      (void)until_stop(stop);
      std::this_thread::sleep_for(milliseconds(20));
      ended = true;
      return {};
    });
  }
  EXPECT_TRUE(ended);
}

TEST_F(Coordination, ADestructorThatWaitsLongSaysForWhom) {
  ManualClock clock;
  std::atomic<bool> go = false;
  auto coordinator = std::make_unique<Coordinator>(CoordinatorOptions{}, clock);
  coordinator->start("quick", until_stop);
  for (const char* name : {"slow one", "slow two"}) {
    coordinator->start(name, [&go](const std::stop_token&) -> Result<void> {
      go.wait(false);
      return {};
    });
  }
  auto destroyed = later([&coordinator] { coordinator.reset(); });
  clock.until_awaited(seconds(1));
  EXPECT_TRUE(lines_.empty()) << lines_[0];
  clock.advance(seconds(1));
  clock.until_awaited_for_ever();
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_[0], ::testing::HasSubstr("waits for threads"));
  EXPECT_THAT(lines_[0], ::testing::EndsWith("slow one slow two"));
  EXPECT_FALSE(is_done(destroyed));
  go = true;
  go.notify_all();
  destroyed.get();
}

TEST_F(Coordination, AnEmptyFunctionIsRefused) {
  Coordinator coordinator;
  EXPECT_THROW(coordinator.start("nothing", {}), Exception);
}

TEST_F(Coordination, ThreadsBearTheirNames) {
  Coordinator coordinator;
  std::string name;
  coordinator.start("a thread with a long name", [&](const std::stop_token&) -> Result<void> {
    name = this_thread_name();
    return {};
  });
  EXPECT_TRUE(coordinator.join());
  EXPECT_EQ(name, "a thread with a long name");
}

TEST_F(Coordination, AThreadThatCannotBeStartedIsAnExceptionAndNobodyWaitsForIt) {
  Coordinator coordinator;
  coordinator.start("runs", until_stop);
  const Error error = refusal([&] {
    const NoNewThreads none;
    coordinator.start("refused", until_stop);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted);
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
}

}  // namespace
}  // namespace headpond::internal
