// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/monitor/run/live_run.h"
#include "headpond/monitor/run_log_test_internal.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/staging/map_staging_area.h"
#include "headpond/queue/staging/staging_area.h"

namespace headpond {
namespace {

using namespace std::chrono_literals;
using internal::RunLogTest;
using internal::small_batches;
using testing::HasSubstr;

TEST_F(RunLogTest, AQueueThatCannotBeWatchedLeavesNothingBehind) {
  auto log = open();
  EXPECT_THROW((void)log->watch(QueueSource{.name = "x", .fill = nullptr}), Exception);
  Loader loader(small_batches(), {.threads = 1});
  {
    const RunLog::Watch watched = log->watch(loader);
    while (loader.next()) {
    }
  }
  ASSERT_TRUE(log->close());
  for (const RunPoint& point : record().points) EXPECT_THAT(point.hand_offs, testing::IsEmpty());
}

TEST_F(RunLogTest, OthersListenIfTheyMay) {
  auto log = open({.sample_every = 1ms, .write_every = 10ms, .live = true});
  Loader loader(small_batches(), {.threads = 1});
  const RunLog::Watch watched = log->watch(loader, "train");
  auto live = LiveRun::connect(folder_);
  ASSERT_TRUE(live) << live.error();
  RunRecord run;
  while (run.points.empty()) ASSERT_TRUE(live->read(run, 10s));
  EXPECT_EQ(run.machine.pid, getpid());
  EXPECT_EQ(run.pipelines.at(0).name, "train");
  ASSERT_TRUE(log->close());
  while (live->read(run, 10s)) {
  }
  EXPECT_TRUE(run.is_whole);
  log = open();
  EXPECT_FALSE(LiveRun::connect(folder_)) << "control: nobody asked for it";
}

TEST_F(RunLogTest, WatchingChangesNoByte) {
  const auto bytes_of = [](RunLog* log) {
    Loader loader(range(100) | shuffle(10) | batch(3), {.threads = 2});
    RunLog::Watch watched;
    if (log != nullptr) watched = log->watch(loader);
    std::string all;
    while (auto batch = loader.next()) {
      const Tensor& x = batch->element()[0];
      all.append(reinterpret_cast<const char*>(x.data()), x.byte_size());
      all += loader.state();
    }
    return all;
  };
  auto log = open();
  EXPECT_EQ(bytes_of(log.get()), bytes_of(nullptr));
}

TEST_F(RunLogTest, AQueueAndItsConsumerHaveAVerdict) {
  auto log = open();
  FIFOQueue queue({.capacity = 8, .dtypes = {i64}, .shapes = {{}}, .name = "input"});
  WaitAccount account;
  RunLog::Watch watched = log->watch(queue, account, {.batch = 1, .producers = 1}, {.name = "train"});
  const Element one{{Tensor::from(std::span<const int64_t>(std::array<int64_t, 1>{1}), Shape{})}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(queue.enqueue(one));
    ASSERT_TRUE(account.measure([&] { return queue.dequeue(); }));
  }
  EXPECT_THAT(log->diagnose().findings.at(0), HasSubstr("too little was seen: 2 calls"));
  EXPECT_GE(watched.queue().samples, 0);
  watched.reset();
  ASSERT_TRUE(log->close());
  EXPECT_TRUE(is_accepted("check_events.py",
                          " --require queue/input/fraction_of_8_full"
                          " --require pipeline/train/starved_fraction --require verdict/train"));
  EXPECT_THAT(record().points.back().queues, testing::IsEmpty()) << "the queue was not watched any more";
}

TEST_F(RunLogTest, QueuesAndStagingAreasLeaveTheirFigures) {
  auto log = open();
  const FIFOQueue queue({.capacity = 8, .dtypes = {bytes}, .name = "input"});
  const StagingArea area({.dtypes = {i64}, .capacity = 2, .name = "dock"});
  const MapStagingArea keyed({.dtypes = {i64}, .name = "quay"});
  RunLog::Watch first = log->watch(queue);
  const RunLog::Watch second = log->watch(area), third = log->watch(keyed);
  const RunLog::Watch other = log->watch(QueueSource{.name = "other", .fill = [] { return QueueFill{}; }});
  const Tensor text = Tensor::scalar(std::string(100, 'x'));
  const auto size = static_cast<int64_t>(text.byte_size());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.enqueue(Element{{text}}));
  ASSERT_TRUE(queue.dequeue());
  ASSERT_TRUE(area.put(Element{{Tensor::scalar(int64_t{1})}}));
  first.reset();
  ASSERT_TRUE(log->close());
  const std::vector<QueueRecord> all = last_hand_offs(record());
  std::vector<std::string> names;
  for (const QueueRecord& one : all) names.push_back(one.name);
  ASSERT_THAT(names, testing::UnorderedElementsAre("input", "dock", "quay")) << "the other one counts nothing";
  const auto of = [&](const char* name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; })->figures;
  };
  EXPECT_EQ(std::pair(of("input").bytes, of("input").bytes_peak), std::pair(2 * size, 3 * size));
  EXPECT_EQ(std::pair(of("input").capacity, of("input").size_peak), std::pair(int64_t{8}, int64_t{3}));
  EXPECT_DOUBLE_EQ(of("input").put_size_mean, 2);
  EXPECT_DOUBLE_EQ(of("input").take_size_mean, 3);
  EXPECT_EQ(std::pair(of("dock").size, of("dock").bytes), std::pair(int64_t{1}, int64_t{8}));
  EXPECT_EQ(of("quay").size_peak, 0);
}

TEST_F(RunLogTest, NamesThatAreTakenGetANumberUntilTheyAreFree) {
  auto log = open();
  const auto source = [](int64_t calls) {
    return PipelineSource{.name = "a", .totals = [=] { return PipelineTotals{.calls = calls}; }};
  };
  RunLog::Watch first = log->watch(source(1));
  const RunLog::Watch second = log->watch(source(2));
  first.reset();
  const RunLog::Watch third = log->watch(source(3));
  std::vector<std::string> names;
  for (const PipelineRecord& one : log->pipelines()) names.push_back(one.name);
  EXPECT_THAT(names, testing::ElementsAre("a", "a_1"));
}

TEST_F(RunLogTest, AWatchMayOutliveTheLogAndTheLoader) {
  auto log = open();
  std::optional<Loader> loader(std::in_place, small_batches(), LoaderOptions{.threads = 1});
  RunLog::Watch watched = log->watch(*loader);
  ASSERT_TRUE(loader->next());
  loader.reset();
  EXPECT_EQ(log->pipelines().at(0).loader.batches, 1);
  log.reset();
  watched.reset();
  EXPECT_EQ(record().pipelines.at(0).loader.batches, 1);
}

TEST_F(RunLogTest, HasTheProfileOfItsLoaderAndWhatThreadsTook) {
  auto log = open();
  EXPECT_TRUE(log->profile()->empty()) << "nothing is watched";
  Loader loader(small_batches(), {.threads = 1, .consumer_helps = false});
  const RunLog::Watch watched = log->watch(loader);
  while (loader.next()) {
  }
  const auto rows = log->profile({.view = ProfileView::stage}), own = loader.profile({.view = ProfileView::stage});
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->at(0).name, own->at(0).name);
  EXPECT_EQ(rows->at(0).calls, own->at(0).calls);
  EXPECT_FALSE(log->profile({.show = "("})) << "no regular expression";
  ASSERT_TRUE(log->close());
  std::vector<std::string> names;
  const RunRecord run = record();
  for (const ThreadUse& use : run.points.back().threads) names.push_back(use.name);
  EXPECT_THAT(names, testing::Contains("headpond/"));
}

TEST_F(RunLogTest, TheProfileIsThatOfALoaderAlsoWhereTheProgramWaitedMoreForSomethingElse) {
  auto log = open();
  const RunLog::Watch account =
      log->watch(PipelineSource{.name = "account",
                                .totals = [] { return PipelineTotals{.calls = 9, .wait_ns = int64_t{1} << 60}; },
                                .verdict = [] { return Verdict{.code = ReasonCode::device_bound}; }});
  EXPECT_TRUE(log->profile()->empty());
  Loader loader(small_batches(), {.threads = 1, .consumer_helps = false});
  const RunLog::Watch watched = log->watch(loader, "train");
  while (loader.next()) {
  }
  EXPECT_EQ(log->profile({.view = ProfileView::stage})->size(), 1U);
  EXPECT_EQ(log->diagnose().code, ReasonCode::device_bound) << "control";
}

TEST_F(RunLogTest, AfterCloseNothingIsWatched) {
  auto log = open();
  ASSERT_TRUE(log->close());
  const Loader loader(small_batches());
  EXPECT_THROW((void)log->watch(loader), Exception);
}

// As when an interrupt asks for the files while they are written already.
TEST_F(RunLogTest, ASecondCloseReturnsWhenAllFilesAreWritten) {
  constexpr int kSpans = 300'000;
  auto log = open({.sample_every = 1ms, .write_every = 20ms, .trace = {.events_per_thread = kSpans}});
  for (int i = 0; i < kSpans; ++i) const trace::Span span("a span", trace::Category::op);
  std::thread first([&] { EXPECT_TRUE(log->close()); });
  const auto late = std::chrono::steady_clock::now() + 60s;
  while (!std::filesystem::exists(folder_ + "/verdict.json") && std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(log->close());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/timeline.json"));
  first.join();
}

TEST_F(RunLogTest, WithoutAFolderNoFileIsWritten) {
  auto log = RunLog::open("", {.sample_every = 1ms, .write_every = 5ms}).value();
  Loader loader(small_batches(), {.threads = 1});
  const RunLog::Watch watched = log->watch(loader);
  ASSERT_TRUE(loader.next());
  ASSERT_TRUE(log->scalar("loss", 1));
  EXPECT_EQ(log->events(), nullptr);
  EXPECT_FALSE(log->diagnose().findings.empty());
  ASSERT_TRUE(log->close());
  EXPECT_EQ(log->files().events, "");
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(RunLogTest, OptionsThatCannotBeAreRefusedBeforeAnythingIsMade) {
  EXPECT_THROW((void)RunLog::open(folder_, {.sample_every = 0ms}), Exception);
  EXPECT_THROW((void)RunLog::open(folder_, {.write_every = -1ms}), Exception);
  for (const int signal : {SIGKILL, SIGSTOP, 999, -1})
    EXPECT_THROW((void)RunLog::open(folder_, {.trace = {.signal = signal}}), Exception) << signal;
  EXPECT_FALSE(std::filesystem::exists(folder_));
  EXPECT_FALSE(trace::enabled());
  const auto control = open();
  EXPECT_TRUE(trace::enabled());
}

TEST_F(RunLogTest, TheLogThatWasOpenedLastHasTheTrace) {
  auto first = open();
  auto second = RunLog::open(folder_ + "/second").value();
  { const auto step = second->step(); }
  EXPECT_EQ(first->files().timeline, "");
  ASSERT_TRUE(first->close());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/timeline.json"));
  { const auto step = second->step(); }
  ASSERT_TRUE(second->close());
  EXPECT_THAT(content("second/timeline.json"), HasSubstr("step"));
  EXPECT_EQ(second->files().timeline, folder_ + "/second/timeline.json");
}

}  // namespace
}  // namespace headpond
