// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/queue_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/status.h"
#include "headpond/base/thread.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/events.h"
#include "headpond/tf1/tf1.h"

namespace headpond {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

QueueSource source(std::string name, int64_t capacity, int64_t min_after_dequeue = 0, QueueFill fill = {}) {
  return {std::move(name), capacity, min_after_dequeue, [fill] { return fill; }, ""};
}

std::string tag(const QueueSource& queue, TagStyle style = TagStyle::queue) { return fullness(queue, 0, style).tag; }
double value(const QueueSource& queue, int64_t size) { return fullness(queue, size).value; }

TEST(Fullness, HasTheTagsThatTensorFlowUsersKnow) {
  EXPECT_EQ(tag(source("batch", 64)), "queue/batch/fraction_of_64_full");
  EXPECT_EQ(tag(source("shuffle_batch", 2000, 1000)), "queue/shuffle_batch/fraction_over_1000_of_1000_full");
  EXPECT_EQ(tag(source("any", -1)), "queue/any/size");
  EXPECT_EQ(tag(source("input_producer", 32), TagStyle::tf1), "input_producer/fraction_of_32_full");
  EXPECT_EQ(tag(source("shuffle_batch", 2000, 1000), TagStyle::tf1), "shuffle_batch/fraction_over_1000_of_1000_full");
}

struct Tagged {
  Queue queue;
  std::string summary_name, tag;
};

void add_producers(std::vector<Tagged>& all) {
  constexpr std::array<int64_t, 3> kNumbers = {1, 2, 3};
  const Tensor rows = Tensor::from(std::span<const int64_t>(kNumbers), {3});
  const auto named = tf1::range_input_producer(1, {.summary_name = "fill"});
  all.push_back({named.queue(), named.summary_name(), "input_producer/fill"});
  const auto add = [&](const tf1::InputProducer& producer, const char* tag) {
    all.push_back({producer.queue(), producer.summary_name(), tag});
  };
  add(tf1::string_input_producer({"a"}), "input_producer_1/fraction_of_32_full");
  add(tf1::range_input_producer(3), "input_producer_2/fraction_of_32_full");
  add(tf1::input_producer(rows, {.capacity = 20}), "input_producer_3/fraction_of_20_full");
  add(tf1::slice_input_producer(Element(std::vector<Tensor>{rows})), "input_producer_4/fraction_of_32_full");
}

void add_batchers(std::vector<Tagged>& all) {
  const tf1::Source none = [](const std::stop_token&) -> Result<Element> { return fail(ErrorKind::OutOfRange, ""); };
  const tf1::KeepInput keep = [](const Element&) { return Tensor::scalar(true); };
  const tf1::BatchOptions options = {.batch_size = 8, .dtypes = {i64}, .shapes = {{}}};
  tf1::BatchOptions large = options, padded = options, named = options;
  large.capacity = 64;
  padded.dynamic_pad = true;
  named.name = "mine";
  const tf1::ShuffleBatchOptions mixed = {
      .batch_size = 8, .dtypes = {i64}, .shapes = {{}}, .capacity = 60, .min_after_dequeue = 10};
  tf1::ShuffleBatchOptions most = mixed;
  most.capacity = 2000;
  most.min_after_dequeue = 1000;
  const auto add = [&](const tf1::Batcher& batcher, const char* tag) { all.push_back({batcher.queue(), "", tag}); };
  add(tf1::batch(none, large), "batch/fraction_of_64_full");
  add(tf1::batch(none, options), "batch_1/fraction_of_32_full");
  add(tf1::maybe_batch(none, keep, options), "batch_2/fraction_of_32_full");
  add(tf1::batch(none, padded), "batch_3/fraction_of_32_full");
  add(tf1::batch(none, named), "mine/fraction_of_32_full");
  add(tf1::batch_join({none, none}, options), "batch_join/fraction_of_32_full");
  add(tf1::maybe_batch_join({none, none}, keep, large), "batch_join_1/fraction_of_64_full");
  add(tf1::shuffle_batch(none, most), "shuffle_batch/fraction_over_1000_of_1000_full");
  add(tf1::shuffle_batch(none, mixed), "shuffle_batch_1/fraction_over_10_of_50_full");
  add(tf1::maybe_shuffle_batch(none, keep, mixed), "shuffle_batch_2/fraction_over_10_of_50_full");
  add(tf1::shuffle_batch_join({none, none}, mixed), "shuffle_batch_join/fraction_over_10_of_50_full");
  add(tf1::maybe_shuffle_batch_join({none}, keep, most), "shuffle_batch_join_1/fraction_over_1000_of_1000_full");
}

// Of each function, some twice. Default names are numbered over the whole program, so they are made once.
const std::vector<Tagged>& tf1_queues() {
  static const std::vector<Tagged> all = [] {
    std::vector<Tagged> made;
    add_producers(made);
    add_batchers(made);
    return made;
  }();
  return all;
}

TEST(Fullness, OfTheQueuesOfTensorFlow1sFunctionsHasTheirTags) {
  for (const Tagged& one : tf1_queues()) {
    EXPECT_EQ(tag(queue_source(one.queue, one.summary_name), TagStyle::tf1), one.tag);
  }
}

TEST(QueueSource, TellsWhatAnElementTakesIfThatIsFixed) {
  const auto bytes_of = [](const QueueOptions& options) { return queue_source(FIFOQueue(options)).element_bytes; };
  EXPECT_EQ(bytes_of({.capacity = 4, .dtypes = {DType::f32, DType::i64}, .shapes = {{28, 28}, {}}}), 28 * 28 * 4 + 8);
  EXPECT_EQ(bytes_of({.capacity = 4, .dtypes = {DType::f32}}), 0) << "any shape";
  EXPECT_EQ(bytes_of({.capacity = 4, .dtypes = {DType::bytes}, .shapes = {{}}}), 0) << "any length";
}

TEST(Fullness, IsAFractionOfWhatTheQueueCanGive) {
  EXPECT_EQ(value(source("a", 64), 16), 0.25);
  EXPECT_EQ(value(source("a", 2000, 1000), 1500), 0.5);
  EXPECT_EQ(value(source("a", 2000, 1000), 999), 0);
  EXPECT_EQ(value(source("a", 2000, 500), 2000), 1);
  EXPECT_EQ(value(source("a", -1), 12345), 12345);
}

TEST(Obtainable, IsWhatLiesAboveTheMinimumUntilTheQueueCloses) {
  EXPECT_EQ(obtainable(source("a", 10), {3}), 3);
  EXPECT_EQ(obtainable(source("a", 10, 4), {3}), 0);
  EXPECT_EQ(obtainable(source("a", 10, 4), {7}), 3);
  EXPECT_EQ(obtainable(source("a", 10, 4), {3, true}), 3);
}

/// Waits, without end if need be: ctest has a time limit.
void until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(1ms);
}

void wait_for_samples(const QueueMonitor::Handle& handle, int64_t count) {
  until([&] { return handle.summary().samples >= count; });
}

TEST(QueueMonitor, SumsUpWhatItSampled) {
  QueueMonitor monitor({.sample_every = 1ms});
  std::atomic<int64_t> size = 3;
  const auto handle = monitor.watch({"a", 4, 0, [&] { return QueueFill{size}; }});
  const auto shuffled = monitor.watch(source("b", 2000, 1000, {1000}));
  wait_for_samples(handle, 3);
  EXPECT_EQ(handle.summary().fraction_mean, 0.75);
  EXPECT_EQ(handle.summary().empty_share, 0);
  wait_for_samples(shuffled, 1);
  EXPECT_EQ(shuffled.summary().empty_share, 1);
  size = 0;
  until([&] { return handle.summary().empty_share > 0; });
  EXPECT_LT(handle.summary().fraction_mean, 0.75);
}

TEST(QueueMonitor, DoesNotBlameAQueueWhoseWorkIsDone) {
  QueueMonitor monitor({.sample_every = 1ms});
  std::atomic<int64_t> calls = 0;
  const auto handle = monitor.watch({"a", 4, 0, [&] {
                                       ++calls;
                                       return QueueFill{0, true};
                                     }});
  until([&] { return calls > 3; });
  EXPECT_EQ(handle.summary().samples, 0);
  EXPECT_EQ(handle.summary().empty_share, 0);
}

TEST(QueueMonitor, CallsNoSourceWhoseHandleIsGone) {
  QueueMonitor monitor({.sample_every = 1ms});
  auto calls = std::make_unique<std::atomic<int64_t>>(0);
  auto handle = monitor.watch({"a", 4, 0, [&calls] { return QueueFill{++*calls}; }});
  until([&] { return *calls > 2; });
  handle.reset();
  calls.reset();  // A call from now on would crash.
  const auto other = monitor.watch(source("b", 4));
  wait_for_samples(other, 3);
}

TEST(QueueMonitor, MayGoBeforeItsHandles) {
  QueueMonitor::Handle handle;
  {
    QueueMonitor monitor;
    handle = monitor.watch(source("a", 4, 0, {2}));
  }
  EXPECT_GE(handle.summary().samples, 1);
  EXPECT_EQ(handle.summary().fraction_mean, 0.5);
}

// What garbage collection does in a function of another language.
TEST(QueueMonitor, MayLoseItsHandlesAndGoInAFunctionThatItCalls) {
  struct All {
    std::mutex mu;
    std::unique_ptr<QueueMonitor> monitor;
    QueueMonitor::Handle handle;
  };
  const auto all = std::make_shared<All>();
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto totals = [all, calls] {
    const std::lock_guard lock(all->mu);
    if (++*calls == 1) all->handle.reset();
    if (*calls == 2) all->monitor.reset();
    return PipelineTotals{};
  };
  {
    const std::lock_guard lock(all->mu);
    all->monitor =
        std::make_unique<QueueMonitor>(QueueMonitorOptions{.sample_every = 1ms, .write_every = 1ms, .totals = totals});
    all->handle = all->monitor->watch(source("q", 4));
  }
  const auto is_gone = [&] {
    const std::lock_guard lock(all->mu);
    return all->monitor == nullptr;
  };
  for (int i = 0; i < 30'000 && !is_gone(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(is_gone());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(*calls, 2) << "its thread has ended";
}

TEST(QueueMonitor, RefusesIntervalsThatTakeAWholeProcessor) {
  EXPECT_THROW(QueueMonitor({.sample_every = 0ms}), Exception);
  EXPECT_THROW(QueueMonitor({.sample_every = -5ms}), Exception);
  EXPECT_THROW(QueueMonitor({.write_every = -1ms}), Exception);
}

TEST(QueueMonitor, StopsWithoutWaitingForTheNextSample) {
  const int64_t start = now_ns();
  {
    QueueMonitor monitor({.sample_every = 1h});
    const auto handle = monitor.watch(source("a", 4));
    wait_for_samples(handle, 1);  // The first sample does not wait either.
  }
  EXPECT_LT(now_ns() - start, std::chrono::nanoseconds(10min).count());
}

TEST(QueueMonitor, NamesSecondQueuesAsTensorFlowDoes) {
  trace::start();
  {
    QueueMonitor monitor;
    const auto a = monitor.watch(source("batch", 4));
    const auto b = monitor.watch(source("batch", 4));
    const auto c = monitor.watch(source("", 4));
  }
  trace::stop();
  std::set<std::string> names;
  for (const auto& thread : trace::collect()) {
    EXPECT_EQ(thread.thread_name, "monitor");
    for (const auto& event : thread.events) names.insert(event.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"queue/batch", "queue/batch_1", "queue/queue"}));
}

TEST(QueueMonitor, WritesCountersIntoTheTrace) {
  trace::start();
  {
    QueueMonitor monitor;
    const auto handle = monitor.watch(source("a", 4, 0, {3}));
  }
  trace::stop();
  const auto threads = trace::collect();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].events.back().value, 3U);
  EXPECT_EQ(threads[0].events.back().kind, trace::Kind::counter);
}

TEST(QueueMonitor, RefusesQueuesThatMakeNoSense) {
  QueueMonitor monitor;
  EXPECT_THROW((void)monitor.watch({"a", 4, 0, nullptr}), Exception);
  EXPECT_THROW((void)monitor.watch(source("a", 0)), Exception);
  EXPECT_THROW((void)monitor.watch(source("a", 4, 4)), Exception);
  EXPECT_THROW((void)monitor.watch(source("a", 4, -1)), Exception);
}

class QueueMonitorEventsTest : public testing::Test {
 protected:
  ~QueueMonitorEventsTest() override { std::filesystem::remove_all(folder_); }
  std::unique_ptr<EventWriter> open() { return std::move(*EventWriter::open(folder_)); }
  bool has_tags(const std::string& flags) const {
    return std::system((HEADPOND_PYTHON " " HEADPOND_TOOLS "/check_events.py '" + folder_ + "' " + flags).c_str()) == 0;
  }
  const std::string folder_ = testing::TempDir() + "headpond_queue_monitor_" + std::to_string(this_thread_id());
};

TEST_F(QueueMonitorEventsTest, WritesAPointOfEachTagEvenInAShortRun) {
  const auto events = open();
  {
    QueueMonitor monitor({.sample_every = 1h, .events = events.get()});
    const auto a = monitor.watch(source("a", 32, 0, {8}));
    const auto b = monitor.watch(source("b", 2000, 1000, {1250}));
    const auto c = monitor.watch(source("c", -1));
  }
  ASSERT_TRUE(events->close());
  EXPECT_TRUE(
      has_tags("--require queue/a/fraction_of_32_full --require queue/b/fraction_over_1000_of_1000_full --require "
               "queue/c/size"));
  EXPECT_FALSE(has_tags("--require a/fraction_of_32_full"));
}

TEST_F(QueueMonitorEventsTest, HasTheTagsOfTensorFlow1sFunctionsInItsFile) {
  const auto events = open();
  std::string required;
  {
    QueueMonitor monitor({.sample_every = 1h, .tag_style = TagStyle::tf1, .events = events.get()});
    std::vector<QueueMonitor::Handle> handles;
    for (const Tagged& one : tf1_queues()) {
      handles.push_back(monitor.watch(queue_source(one.queue, one.summary_name)));
      required += " --require " + one.tag;
    }
  }
  ASSERT_TRUE(events->close());
  EXPECT_TRUE(has_tags(required));
  EXPECT_FALSE(has_tags("--require batch_4/fraction_of_32_full"));
  EXPECT_FALSE(has_tags("--require 'queue/*'"));
}

TEST_F(QueueMonitorEventsTest, WritesThePipelineScalars) {
  const auto events = open();
  std::atomic<int64_t> step = 0;
  {
    const auto totals = [&] {
      const int64_t now = ++step;
      return PipelineTotals{now, now * 32, now * 1024, now, now * 1000};
    };
    QueueMonitor monitor({.sample_every = 1ms, .write_every = 1ms, .events = events.get(), .totals = totals});
    until([&] { return step > 3; });
  }
  ASSERT_TRUE(events->close());
  EXPECT_TRUE(
      has_tags("--require global_step/sec --require pipeline/elements_per_sec --require pipeline/bytes_per_sec "
               "--require pipeline/consumer_wait_ms --require pipeline/starved_fraction"));
}

TEST_F(QueueMonitorEventsTest, LogsAnErrorOnceAndKeepsSampling) {
  const auto events = open();
  ASSERT_TRUE(events->close());  // Every point fails from here on.
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  {
    QueueMonitor monitor({.sample_every = 1ms, .write_every = 1ms, .events = events.get()});
    const auto handle = monitor.watch(source("a", 32));
    wait_for_samples(handle, 20);
  }
  set_log_sink({});
  EXPECT_THAT(lines, testing::ElementsAre(HasSubstr("no more scalars of the queues")));
}

}  // namespace
}  // namespace headpond
