// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <string>

#include "headpond/base/thread.h"
#include "headpond/base/trace_tasks.h"

namespace headpond::trace {
namespace {

std::vector<std::string> names_of_spans(const ThreadEvents& thread) {
  std::vector<std::string> names;
  for (const Event& event : thread.events) {
    if (event.kind == Kind::span) names.emplace_back(event.name);
  }
  return names;
}

TEST(Trace, RecordsNothingUnlessStarted) {
  stop();
  start();
  stop();
  { Span span("silent", Category::op); }
  counter("silent", 1);
  flow_begin(1);
  EXPECT_THAT(collect(), testing::IsEmpty());
}

TEST(Trace, InnerSpansEndBeforeTheirOuterOnes) {
  start();
  {
    Span outer("outer", Category::step);
    Span inner("inner", Category::wait);
  }
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_THAT(names_of_spans(threads[0]), testing::ElementsAre("inner", "outer"));
  const Event& inner = threads[0].events[0];
  const Event& outer = threads[0].events[1];
  EXPECT_GE(inner.start_ns, outer.start_ns);
  EXPECT_LE(inner.start_ns + inner.length_ns, outer.start_ns + outer.length_ns);
}

constexpr ArgNames kTold{{"file", "offset", "bytes"}, true};

TEST(Trace, SpansAndInstantsSayWhatTheyAreAbout) {
  { const SpanWithArgs silent("silent", Category::io, {}); }
  instant("silent", Category::op);
  start();
  {
    SpanWithArgs read("read", Category::io, {&kTold, {text_arg(intern_path("a.bin")), 7, kNoArg}});
    read.set(2, 4096);
  }
  instant("end", Category::step, {&kTold, {text_arg(nullptr), 8}});
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_EQ(threads[0].events.size(), 2U);
  const Event &read = threads[0].events[0], &end = threads[0].events[1];
  EXPECT_EQ(read.kind, Kind::span);
  EXPECT_EQ(read.args.names, &kTold);
  EXPECT_STREQ(std::bit_cast<const char*>(read.args.values[0]), "a.bin");
  EXPECT_EQ(read.args.values[1], 7);
  EXPECT_EQ(read.args.values[2], 4096);
  EXPECT_EQ(end.kind, Kind::instant);
  EXPECT_GE(end.start_ns, read.start_ns + read.length_ns);
  EXPECT_EQ(end.args.values[0], kNoArg);
}

TEST(Trace, TextsBeyondSomeThousandsAreNotKept) {
  const char* const first = intern_path("the first");
  for (int i = 0; i < 10'001; ++i) (void)intern_path("file " + std::to_string(i));
  EXPECT_STREQ(intern_path("one more"), "...");
  EXPECT_EQ(intern_path("the first"), first);
  EXPECT_STREQ(intern_message("the first error"), "the first error") << "errors have places of their own";
  EXPECT_STREQ(intern("a stage"), "a stage") << "control: names of events are";
}

TEST(Trace, KeepsTheEventsOfThreadsThatEnded) {
  start();
  Thread("worker", [] { Span span("work", Category::op); }).join();
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].thread_name, "worker");
  EXPECT_NE(threads[0].thread_id, this_thread_id());
}

TEST(Trace, KeepsTheNewestEventsIfAskedTo) {
  start(3, Keep::newest);
  for (int i = 0; i < 10; ++i) counter("queue/a", i);
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].dropped, 7U);
  std::vector<uint64_t> values;
  for (const Event& event : threads[0].events) values.push_back(event.value);
  EXPECT_THAT(values, testing::ElementsAre(7, 8, 9));
  start(3);
  counter("queue/a", 10);
  stop();
  EXPECT_EQ(collect().at(0).events.at(0).value, 10U) << "the place in the buffer is that of the trace before";
}

TEST(Trace, CountsWhatItDropsAtTheLimit) {
  start(3);
  for (int i = 0; i < 10; ++i) counter("queue/a", i);
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].events.size(), 3U);
  EXPECT_EQ(threads[0].dropped, 7U);
  EXPECT_EQ(threads[0].events[2].value, 2U);
}

TEST(Trace, ANewStartForgetsTheOldEvents) {
  start();
  counter("a", 1);
  start();
  counter("b", 2);
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_EQ(threads[0].events.size(), 1U);
  EXPECT_STREQ(threads[0].events[0].name, "b");
}

TEST(Trace, InternsEqualNamesOnce) {
  EXPECT_EQ(intern("queue/images"), intern(std::string("queue/") + "images"));
  EXPECT_NE(intern("a"), intern("b"));
}

TEST(Trace, ManyThreadsRecordWhileOneCollects) {
  start();
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("t" + std::to_string(t), [] {
      for (int i = 0; i < 500; ++i) Span span("work", Category::op);
    });
  }
  for (int i = 0; i < 20; ++i) collect();
  for (Thread& thread : threads) thread.join();
  stop();
  size_t total = 0;
  for (const ThreadEvents& thread : collect()) total += thread.events.size();
  EXPECT_EQ(total, 2000U);
}

// ---- spans of several tasks

constexpr ArgNames kTask{{"epoch", "unit", "first", "count"}};
constexpr ArgNames kTasks{{"epoch", "unit", "last_unit", "count"}};

constexpr char kSender = 0;

// A task of 10 elements. Times are in ns.
void record_task(int64_t start, int64_t length, int64_t unit, int64_t epoch = 0, const char* name = "map",
                 const void* sender = &kSender) {
  const internal::EndedTask task = {sender, name, epoch, start, start + length, unit, 10};
  if (internal::lengthen(task)) return;
  internal::record_task({name, start, length, 0, Kind::span, Category::op, {&kTask, {epoch, unit, 0, 10}}}, task,
                        kTasks);
}

std::vector<Event> recorded() {
  const auto threads = collect();
  return threads.empty() ? std::vector<Event>() : threads.at(0).events;
}

TEST(TraceOfShortTasks, IsOneSpanOfThoseThatFollowEachOther) {
  start();
  record_task(1000, 500, 3);
  record_task(2000, 700, 4);
  record_task(2700, 300, 5);
  const std::vector<Event> events = recorded();  // While it may become longer.
  ASSERT_EQ(events.size(), 1U);
  EXPECT_STREQ(events[0].name, "map");
  EXPECT_EQ(events[0].start_ns, 1000);
  EXPECT_EQ(events[0].length_ns, 2000);
  EXPECT_EQ(events[0].value, 3U);
  EXPECT_STREQ(events[0].args.names->names[2], "last_unit");
  EXPECT_THAT(events[0].args.values, testing::ElementsAre(0, 3, 5, 30));
  stop();
  EXPECT_EQ(recorded().size(), 1U);
  start();
  EXPECT_TRUE(recorded().empty());
  record_task(3000, 100, 6);
  EXPECT_EQ(recorded().at(0).start_ns, 3000) << "not one with those of the trace before";
  stop();
}

TEST(TraceOfShortTasks, AreLengthenedOnlyWhileTheirTraceIsRecorded) {
  const internal::EndedTask next = {&kSender, "map", 0, 1600, 2100, 4, 10};
  start();
  record_task(1000, 500, 3);
  Thread other("other", [&] { EXPECT_FALSE(internal::lengthen(next)) << "a thread that has recorded nothing"; });
  other.join();
  EXPECT_TRUE(internal::lengthen(next)) << "control";
  stop();
  const internal::EndedTask third = {&kSender, "map", 0, 2200, 2700, 5, 10};
  EXPECT_FALSE(internal::lengthen(third)) << "after stop()";
  start();
  EXPECT_FALSE(internal::lengthen(third)) << "the first one of another trace";
  record_task(1000, internal::kShortTaskNs + 1, 3);
  EXPECT_FALSE(internal::lengthen({&kSender, "map", 0, 22'000, 22'500, 4, 10})) << "after a long one";
  stop();
  EXPECT_EQ(recorded().size(), 1U);
}

TEST(Trace, StartsAgainWithFewerEventsForEachThread) {
  start();
  for (int i = 0; i < 1000; ++i) counter("more", i);
  start(10);
  for (int i = 0; i < 20; ++i) counter("fewer", i);
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].events.size(), 10U);
  EXPECT_EQ(threads[0].dropped, 10U);
  EXPECT_STREQ(threads[0].events[0].name, "fewer");
}

TEST(TraceOfShortTasks, OneAloneSaysWhatItAlwaysSays) {
  start();
  record_task(1000, 500, 3);
  stop();
  const std::vector<Event> events = recorded();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].value, 0U);
  EXPECT_STREQ(events[0].args.names->names[2], "first");
  EXPECT_THAT(events[0].args.values, testing::ElementsAre(0, 3, 0, 10));
}

TEST(TraceOfShortTasks, OthersHaveTheirOwn) {
  const auto spans_with = [](const auto& second) {
    start();
    record_task(1000, 500, 3);
    second();
    stop();
    return recorded().size();
  };
  EXPECT_EQ(spans_with([] { record_task(1600, 500, 4); }), 1U) << "control";
  EXPECT_EQ(spans_with([] { record_task(1600, 500, 4, 1); }), 2U) << "of another epoch";
  EXPECT_EQ(spans_with([] { record_task(1600, 500, 4, 0, "batch"); }), 2U) << "of another stage";
  const int other = 0;
  EXPECT_EQ(spans_with([&] { record_task(1600, 500, 4, 0, "map", &other); }), 2U) << "of another stage of that name";
  EXPECT_EQ(spans_with([] { record_task(1500 + internal::kMostBetweenNs + 1, 500, 4); }), 2U) << "after a pause";
  EXPECT_EQ(spans_with([] { record_task(1600, internal::kShortTaskNs + 1, 4); }), 2U) << "that is long";
}

TEST(TraceOfShortTasks, EndsWhereAnotherSpanBeginsOrEnds) {
  start();
  record_task(1000, 500, 3);
  {
    const Span step("step", Category::step);
    record_task(1600, 500, 4);
  }
  record_task(2200, 500, 5);
  stop();
  std::vector<uint64_t> tasks;
  for (const Event& event : recorded()) tasks.push_back(event.value);
  EXPECT_THAT(tasks, testing::ElementsAre(0, 0, 0, 0));
}

TEST(TraceOfShortTasks, EndsWhereSpansOfOperatorsCome) {
  start();
  record_task(1000, 500, 3);
  const auto span = [](const char* name, int64_t start_ns) {
    return Event{name, start_ns, 100, 0, Kind::span, Category::op};
  };
  internal::record_spans({});
  record_task(1600, 500, 4);
  internal::record_spans(std::vector<Event>{span("range", 3000), span("map", 3100), span("batch", 3200)});
  record_task(3400, 500, 5);
  stop();
  const auto threads = collect();
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_THAT(names_of_spans(threads[0]), testing::ElementsAre("map", "range", "map", "batch", "map"));
  EXPECT_EQ(threads[0].events[0].value, 2U) << "none came between its tasks";
  EXPECT_EQ(threads[0].events[4].value, 0U);
}

TEST(TraceOfShortTasks, IsNeverLong) {
  constexpr int64_t kTasksInAll = 100, kEachNs = 5000;
  start();
  for (int64_t i = 0; i < kTasksInAll; ++i) record_task(i * kEachNs, kEachNs, i);
  stop();
  const std::vector<Event> events = recorded();
  ASSERT_EQ(events.size(), 5U);
  int64_t elements = 0;
  for (const Event& event : events) {
    EXPECT_EQ(event.length_ns, internal::kLongestJoinedNs);
    elements += event.args.values[3];
  }
  EXPECT_EQ(elements, 10 * kTasksInAll);
}

TEST(TraceOfShortTasks, MayBeCollectedMeanwhile) {
  constexpr int64_t kAll = 20'000;
  start();
  std::atomic<bool> has_ended = false;
  Thread worker("worker", [&] {
    for (int64_t i = 0; i < kAll; ++i) record_task(i * 1000, 900, i);
    has_ended = true;
  });
  const auto elements = [] {
    int64_t sum = 0;
    for (const Event& event : recorded()) sum += event.args.values[3];
    return sum;
  };
  for (int64_t before = 0; !has_ended;) {
    const int64_t now = elements();
    EXPECT_GE(now, before);
    before = now;
  }
  worker.join();
  stop();
  EXPECT_EQ(elements(), 10 * kAll);
}

}  // namespace
}  // namespace headpond::trace
