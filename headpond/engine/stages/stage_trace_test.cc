// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/engine/stages/stage_trace_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StageTraces : public testing::Test {
 protected:
  StageTraces() { trace::start(); }
  ~StageTraces() override { trace::stop(); }
  StageTraces(const StageTraces&) = delete;
  StageTraces& operator=(const StageTraces&) = delete;

  static std::vector<trace::Event> events() {
    std::vector<trace::Event> all;
    for (const trace::ThreadEvents& thread : trace::collect())
      all.insert(all.end(), thread.events.begin(), thread.events.end());
    return all;
  }
  static std::vector<uint64_t> values_of(std::string_view counter) {
    std::vector<uint64_t> values;
    for (const trace::Event& event : events()) {
      if (event.kind == trace::Kind::counter && event.name == counter) values.push_back(event.value);
    }
    return values;
  }
  void take(StageTrace::Ready ready, int64_t ready_ns) {
    const Locked locked(lock_);
    trace_.show_take({0, 1}, false, ready_ns, ready);
    lacked_ = trace_.lacks(ready);
  }

  EngineLock lock_;
  StageTrace trace_{"map"};
  bool lacked_ = false;
};

TEST_F(StageTraces, CountersOfTakesThatFollowCloselyAreLeftOutAndShownBeforeAWait) {
  const int64_t ready_ns = now_ns();
  take({.items = 3, .bytes = 30}, ready_ns);
  EXPECT_FALSE(lacked_) << "the first one is shown";
  take({.items = 2, .bytes = 20}, ready_ns);
  EXPECT_TRUE(lacked_);
  EXPECT_THAT(values_of("window/map"), ElementsAre(3));
  {
    const Locked locked(lock_);
    trace_.show_ready({.items = 2, .bytes = 20});
    EXPECT_FALSE(trace_.lacks({.items = 2, .bytes = 20}));
  }
  EXPECT_THAT(values_of("window/map"), ElementsAre(3, 2));
  EXPECT_THAT(values_of("memory/map"), ElementsAre(30, 20));
}

// A consumer that makes each element itself asks too early before each one.
TEST_F(StageTraces, ATakeThatLeavesWhatTheCountersShowIsNotLacked) {
  const int64_t ready_ns = now_ns();
  for (int i = 0; i < 3; ++i) {
    take({}, ready_ns);
    EXPECT_FALSE(lacked_);
  }
  EXPECT_THAT(values_of("window/map"), ElementsAre(0));
  const Locked locked(lock_);
  EXPECT_TRUE(trace_.lacks({.items = 5})) << "what became ready since";
}

TEST_F(StageTraces, ACounterThatDidNotChangeIsShownAgainAfterManyTakes) {
  const int64_t later = now_ns() + int64_t{3600} * 1'000'000'000;  // As if the takes were far apart.
  for (int i = 0; i < 65; ++i) take({.items = 1, .bytes = 10}, later);
  EXPECT_THAT(values_of("window/map"), ElementsAre(1, 1));
}

TEST_F(StageTraces, AnArrowGoesFromWhereAnItemWasMadeToWhereItIsTaken) {
  trace_.begin_arrow(7);
  const StageTrace other("map");
  other.begin_arrow(7);
  {
    const Locked locked(lock_);
    trace_.show_take({0, 7}, true, now_ns(), {});
  }
  std::vector<uint64_t> begun, ended;
  for (const trace::Event& event : events()) {
    if (event.kind == trace::Kind::flow_begin) begun.push_back(event.value);
    if (event.kind == trace::Kind::flow_end) ended.push_back(event.value);
  }
  ASSERT_EQ(begun.size(), 2U);
  EXPECT_NE(begun[0], begun[1]) << "another stage's item";
  EXPECT_THAT(ended, ElementsAre(begun[0]));
}

TEST_F(StageTraces, ShortTasksShareASpanButThoseThatHoldOperators) {
  int64_t ended_ns = now_ns();
  const auto show = [&](bool holds_operators) {
    ended_ns += 200;
    trace_.show_task({.item = {0, 1},
                      .first = 0,
                      .count = 4,
                      .ended_ns = ended_ns,
                      .elapsed_ns = 100,
                      .made = 4,
                      .holds_operators = holds_operators});
  };
  show(true);
  show(true);
  EXPECT_EQ(events().size(), 2U);
  trace::start();
  EXPECT_THAT(events(), IsEmpty());
  show(false);
  show(false);
  EXPECT_EQ(events().size(), 1U);
}

}  // namespace
}  // namespace headpond::internal
