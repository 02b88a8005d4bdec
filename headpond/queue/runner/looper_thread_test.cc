// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/runner/looper_thread.h"

#include <gmock/gmock.h>

#include <atomic>

#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/queue/runner/manual_clock_test_internal.h"

namespace headpond::internal {
namespace {

using std::chrono::seconds;

// Loops by a clock of its own; the log lines stay here.
class Looping : public QueueTest {
 protected:
  Looping() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~Looping() override { set_log_sink({}); }

  ManualClock clock_;
  Coordinator coordinator_{{}, clock_};
  std::atomic<int> calls_ = 0;
};

TEST_F(Looping, TheFirstCallIsAtOnceAndTheOthersAreAnIntervalApart) {
  LooperThread::loop(coordinator_, seconds(10), [&]() -> Result<void> {
    ++calls_;
    return {};
  });
  for (int i = 1; i <= 5; ++i) {
    clock_.until_awaited(seconds(10 * i));
    EXPECT_EQ(calls_, i);
    clock_.advance_in_vain(seconds(9));
    EXPECT_EQ(calls_, i);
    clock_.advance(seconds(1));
  }
  ASSERT_TRUE(coordinator_.request_stop());
  EXPECT_TRUE(coordinator_.join());
}

TEST_F(Looping, CallsThatTakeLongDoNotShiftTheOnesAfterThem) {
  LooperThread::loop(coordinator_, seconds(10), [&]() -> Result<void> {
    clock_.advance(seconds(7));
    ++calls_;
    return {};
  });
  clock_.until_awaited(seconds(10));
  clock_.advance(seconds(3));
  // A loop that counts from the end of a call, or from its begin, would wait until 27 or later.
  clock_.until_awaited(seconds(20));
  EXPECT_EQ(calls_, 2);
  ASSERT_TRUE(coordinator_.request_stop());
}

TEST_F(Looping, LateCallsFollowAtOnceUntilTheyAreInTimeAgain) {
  LooperThread::loop(coordinator_, seconds(10), [&]() -> Result<void> {
    if (++calls_ == 1) clock_.advance(seconds(35));
    return {};
  });
  clock_.until_awaited(seconds(40));
  EXPECT_EQ(calls_, 4);
  ASSERT_TRUE(coordinator_.request_stop());
}

TEST_F(Looping, AnIntervalOfZeroIsBackToBack) {
  LooperThread::loop(coordinator_, seconds(0), [&]() -> Result<void> {
    if (++calls_ == 1000) (void)coordinator_.request_stop();
    return {};
  });
  EXPECT_TRUE(coordinator_.join());
  EXPECT_EQ(calls_, 1000);
}

TEST_F(Looping, AnErrorOrAnExceptionStopsTheCoordinator) {
  for (const bool throws : {false, true}) {
    Coordinator coordinator({}, clock_);
    LooperThread::loop(coordinator, seconds(10), [&]() -> Result<void> {
      if (throws) throw std::runtime_error("thrown");
      return fail(ErrorKind::DataLoss, "returned");
    });
    EXPECT_FAILS_WITH(throws ? ErrorKind::Unknown : ErrorKind::DataLoss, throws ? "thrown" : "returned",
                      coordinator.join());
  }
}

TEST_F(Looping, AStopEndsAWaitOfAnyLength) {
  LooperThread::loop(coordinator_, kForever, [&]() -> Result<void> {
    ++calls_;
    return {};
  });
  eventually([&] { return calls_ == 1; });
  ASSERT_TRUE(coordinator_.request_stop());
  EXPECT_TRUE(coordinator_.join());
  EXPECT_EQ(calls_, 1);
}

TEST_F(Looping, OnAStoppedCoordinatorNothingIsCalled) {
  ASSERT_TRUE(coordinator_.request_stop());
  LooperThread::loop(coordinator_, seconds(0), [&]() -> Result<void> {
    ++calls_;
    return {};
  });
  EXPECT_TRUE(coordinator_.join());
  EXPECT_EQ(calls_, 0);
}

TEST_F(Looping, ItsHooksRunFirstAndAfterAStopButNotAfterAnError) {
  std::vector<std::string> said;
  const auto says = [&said](std::string what) {
    return [&said, what = std::move(what)]() -> Result<void> {
      said.push_back(what + " on " + this_thread_name());
      return {};
    };
  };
  LooperOptions options{.name = "saver", .start_loop = says("start"), .stop_loop = says("stop")};
  LooperThread::loop(
      coordinator_, seconds(0), [&]() -> Result<void> { return coordinator_.request_stop(); }, options);
  EXPECT_TRUE(coordinator_.join());
  EXPECT_THAT(said, ::testing::ElementsAre("start on saver", "stop on saver"));
  said.clear();
  coordinator_.clear_stop();
  LooperThread::loop(
      coordinator_, seconds(0), [] { return Result<void>(fail(ErrorKind::DataLoss, "bad")); }, options);
  EXPECT_FALSE(coordinator_.join());
  EXPECT_THAT(said, ::testing::ElementsAre("start on saver"));
  said.clear();
  coordinator_.clear_stop();
  options.start_loop = [] { return Result<void>(fail(ErrorKind::NotFound, "no place")); };
  LooperThread::loop(coordinator_, seconds(0), says("body"), options);
  EXPECT_FAILS(ErrorKind::NotFound, coordinator_.join());
  EXPECT_TRUE(said.empty());
}

TEST_F(Looping, RefusesWhatCannotLoop) {
  EXPECT_REFUSES("an interval of -1 ns",
                 LooperThread::loop(coordinator_, std::chrono::nanoseconds(-1), [] { return Result<void>(); }));
  EXPECT_REFUSES("an empty function", LooperThread::loop(coordinator_, seconds(1), {}));
}

}  // namespace
}  // namespace headpond::internal
