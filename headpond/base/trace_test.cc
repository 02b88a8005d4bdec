// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "headpond/base/thread.h"

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

}  // namespace
}  // namespace headpond::trace
