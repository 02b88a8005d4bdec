// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/monitor/recording.h"
#include "headpond/monitor/run/run_trace_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RunTraceTest : public testing::Test {
 protected:
  RunTraceTest() { std::filesystem::create_directories(folder_); }
  ~RunTraceTest() override { std::filesystem::remove_all(folder_); }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void work(const char* name) { const trace::Span span(name, trace::Category::op); }

  const std::string folder_ = testing::TempDir() + "headpond_run_trace_" + std::to_string(now_ns());
};

TEST_F(RunTraceTest, WritesOneFileAtTheEnd) {
  RunTrace run(folder_, {});
  work("first");
  run.step_is(1);
  work("second");
  ASSERT_TRUE(run.write_asked(1));
  EXPECT_THAT(files(), IsEmpty());
  ASSERT_TRUE(run.finish());
  EXPECT_THAT(files(), ElementsAre("timeline.json"));
  EXPECT_EQ(run.path(), folder_ + "/timeline.json");
  EXPECT_THAT(content("timeline.json"), HasSubstr("first"));
  EXPECT_THAT(content("timeline.json"), HasSubstr("second"));
  EXPECT_FALSE(trace::enabled());
}

TEST_F(RunTraceTest, RecordsTheChosenStepsAlone) {
  RunTrace run(folder_, {.steps = {2, 3}});
  int64_t step = 0;
  for (const char* const name : {"one", "two", "three", "four", "five"}) {
    run.step_is(++step);
    EXPECT_EQ(trace::enabled(), step == 2 || step == 3);
    work(name);
    ASSERT_TRUE(run.write_asked(step));
    EXPECT_EQ(files().size(), step < 4 ? 0U : 1U);
  }
  ASSERT_TRUE(run.finish());
  EXPECT_THAT(files(), ElementsAre("timeline-2.json"));
  EXPECT_EQ(run.path(), folder_ + "/timeline-2.json");
  const std::string text = content("timeline-2.json");
  EXPECT_THAT(text, HasSubstr("two"));
  EXPECT_THAT(text, HasSubstr("three"));
  for (const char* const name : {"one", "four", "five"}) EXPECT_THAT(text, Not(HasSubstr(name)));
}

TEST_F(RunTraceTest, ShowsOperatorsInEachTaskWhileItRecordsIfThatIsAsked) {
  const auto is_asked = [] { return trace::internal::probes_every.load(); };
  {
    RunTrace run(folder_, {.steps = {2, 2}, .probes = TraceProbes::every});
    for (const int64_t step : {1, 2, 3}) {
      run.step_is(step);
      EXPECT_EQ(is_asked(), step == 2) << step;
    }
  }
  {
    const RunTrace run(folder_, {.probes = TraceProbes::every});
    EXPECT_TRUE(is_asked());
    const RunTrace later(folder_, {});
    EXPECT_FALSE(is_asked()) << "the trace is another log's";
  }
  EXPECT_FALSE(is_asked());
}

TEST_F(RunTraceTest, WritesChosenStepsThatTheRunEndsIn) {
  RunTrace run(folder_, {.steps = {1, 100}});
  run.step_is(1);
  work("only");
  ASSERT_TRUE(run.finish());
  EXPECT_THAT(content("timeline-1.json"), HasSubstr("only"));
}

TEST_F(RunTraceTest, WritesNothingOfStepsThatNeverCame) {
  RunTrace run(folder_, {.steps = {5, 6}});
  run.step_is(1);
  ASSERT_TRUE(run.finish());
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_EQ(run.path(), "");
}

TEST_F(RunTraceTest, WritesOnASignalAndGoesOn) {
  RunTrace run(folder_, {.signal = SIGUSR2});
  work("before");
  ASSERT_TRUE(run.write_asked(3));
  EXPECT_THAT(files(), IsEmpty());
  ASSERT_EQ(raise(SIGUSR2), 0);
  ASSERT_TRUE(run.write_asked(4));
  ASSERT_TRUE(run.write_asked(5));
  EXPECT_THAT(files(), ElementsAre("timeline-4.json"));
  work("after");
  ASSERT_TRUE(run.finish());
  EXPECT_THAT(files(), ElementsAre("timeline-4.json", "timeline.json"));
  EXPECT_THAT(content("timeline-4.json"), Not(HasSubstr("after")));
  EXPECT_THAT(content("timeline.json"), HasSubstr("after"));
}

TEST_F(RunTraceTest, GivesTheSignalBack) {
  const auto before = std::signal(SIGUSR2, SIG_IGN);
  {
    RunTrace run(folder_, {.signal = SIGUSR2});
    struct sigaction now = {};
    ASSERT_EQ(sigaction(SIGUSR2, nullptr, &now), 0);
    EXPECT_NE(now.sa_handler, SIG_IGN);
    ASSERT_TRUE(run.finish());
  }
  EXPECT_EQ(std::signal(SIGUSR2, before), SIG_IGN);
}

TEST_F(RunTraceTest, GivesTheSignalBackWithTheLastOneThatLooksForIt) {
  const auto before = std::signal(SIGUSR2, SIG_IGN);
  const auto handler = [] {
    struct sigaction now = {};
    EXPECT_EQ(sigaction(SIGUSR2, nullptr, &now), 0);
    return now.sa_handler;
  };
  RunTrace first(folder_, {.signal = SIGUSR2});
  const auto ours = handler();
  RunTrace second(folder_, {.signal = SIGUSR2});
  ASSERT_TRUE(first.finish());
  EXPECT_EQ(handler(), ours);
  EXPECT_NE(ours, SIG_IGN) << "control";
  ASSERT_TRUE(second.finish());
  EXPECT_EQ(handler(), SIG_IGN);
  std::signal(SIGUSR2, before);
}

TEST_F(RunTraceTest, EndsItsRecordingAlsoIfItIsDropped) {
  { const RunTrace run(folder_, {}); }
  EXPECT_FALSE(trace::enabled());
  const RunTrace later(folder_, {});
  EXPECT_TRUE(trace::enabled()) << "control";
}

TEST_F(RunTraceTest, ARecordingBesideItGoesOnAndKeepsWhatItHas) {
  std::optional<Recording> beside(std::in_place);
  work("before");
  RunTrace run(folder_, {.steps = {1, 2}});
  run.step_is(1);
  work("in its steps");
  run.step_is(3);
  EXPECT_TRUE(trace::enabled());
  work("after");
  const std::vector<trace::ThreadEvents> events = beside->events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].events.size(), 3U);
  beside.reset();
  { const Recording another; }
  ASSERT_TRUE(run.write_asked(3));
  const std::string text = content("timeline-1.json");
  EXPECT_THAT(text, HasSubstr("in its steps"));
  for (const char* const name : {"before", "after"}) EXPECT_THAT(text, Not(HasSubstr(name)));
}

TEST_F(RunTraceTest, GoesOnWhenARecordingBesideItEnds) {
  std::optional<Recording> beside(std::in_place);
  RunTrace run(folder_, {.steps = {1, 2}});
  run.step_is(1);
  work("one");
  beside.reset();
  EXPECT_TRUE(trace::enabled());
  work("two");
  ASSERT_TRUE(run.finish());
  EXPECT_FALSE(trace::enabled());
  for (const char* const name : {"one", "two"}) EXPECT_THAT(content("timeline-1.json"), HasSubstr(name));
}

TEST_F(RunTraceTest, BeginsOnceWhenTwoThreadsAreInItsFirstStep) {
  for (int round = 0; round < 250; ++round) {
    RunTrace run(folder_, {.steps = {1, 1}});
    std::atomic<int> missing = 2;
    const auto step = [&](const char* name) {
      --missing;
      while (missing > 0) {  // No sleep: both are there at the same moment.
      }
      run.step_is(1);
      work(name);
    };
    std::thread other(step, "other");
    step("own");
    other.join();
    size_t events = 0;
    for (const trace::ThreadEvents& thread : trace::collect()) events += thread.events.size();
    ASSERT_EQ(events, 2U) << round;
  }
}

TEST_F(RunTraceTest, WritesTheKindsOfFilesThatItIsTold) {
  {
    RunTrace run(folder_, {.files = TimelineFiles::json_gz});
    ASSERT_TRUE(run.finish());
    EXPECT_EQ(run.path(), folder_ + "/timeline.json.gz");
    EXPECT_THAT(files(), ElementsAre("timeline.json.gz"));
  }
  RunTrace run(folder_, {.files = TimelineFiles::perfetto});
  ASSERT_TRUE(run.finish());
  EXPECT_THAT(files(), ElementsAre("timeline.json", "timeline.json.gz", "timeline.pftrace"));
}

TEST_F(RunTraceTest, LeavesTheTraceToALaterOne) {
  RunTrace first(folder_, {});
  RunTrace second(folder_, {});
  work("late");
  ASSERT_TRUE(first.finish());
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_EQ(first.path(), "");
  EXPECT_TRUE(trace::enabled());
  ASSERT_TRUE(second.finish());
  EXPECT_THAT(content("timeline.json"), HasSubstr("late"));
}

TEST_F(RunTraceTest, RecordsNothingWithoutAFolderOrIfItIsOff) {
  RunTrace without("", {});
  RunTrace off(folder_, {.is_on = false});
  EXPECT_FALSE(trace::enabled());
  EXPECT_EQ(without.path() + off.path(), "");
  ASSERT_TRUE(without.finish());
  ASSERT_TRUE(off.finish());
  EXPECT_THAT(files(), IsEmpty());
}

}  // namespace
}  // namespace headpond::internal
