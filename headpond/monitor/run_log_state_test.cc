// SPDX-License-Identifier: Apache-2.0
// The files that a RunLog writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/ops.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/run_log_test_internal.h"
#include "headpond/queue/queue.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using namespace std::chrono_literals;
using internal::small_batches;
using testing::HasSubstr;
using RunLogFilesTest = internal::RunLogTest;

TEST_F(RunLogFilesTest, QueuesOfOneNameHaveTheirOwnRows) {
  auto log = open();
  const auto source = [](int64_t peak) {
    return QueueSource{.name = "input",
                       .capacity = 4,
                       .fill = [] { return QueueFill(); },
                       .figures = [peak] { return QueueFigures{.capacity = 4, .size_peak = peak}; }};
  };
  { const RunLog::Watch first = log->watch(source(1)), second = log->watch(source(2)); }
  ASSERT_TRUE(log->close());
  std::map<std::string, int64_t> peaks;
  for (const QueueRecord& one : last_hand_offs(record())) peaks[one.name] = one.figures.size_peak;
  EXPECT_EQ(peaks, (std::map<std::string, int64_t>{{"input", 1}, {"input_1", 2}}));
}

TEST_F(RunLogFilesTest, APointTellsWhoHoldsTheMemory) {
  if (memory_info().pss == 0) GTEST_SKIP() << "the system does not tell";
  auto log = open();
  const auto large = [](const Element&) { return Element{Tensor::empty(DType::u8, {3'000'000})}; };
  Loader loader(range(50) | map(large, {.output = {{"", DType::u8, {3'000'000}}}}) | batch(2), {.threads = 1});
  FIFOQueue queue({.capacity = 4, .dtypes = {DType::f32}, .shapes = {{100}}, .name = "q"});
  ASSERT_TRUE(queue.enqueue({Tensor::empty(DType::f32, {100})}));
  const auto batch = loader.next();
  const RunLog::Watch of_queue = log->watch(queue), watched = log->watch(loader);
  while (last_looked_at(record()) == nullptr) std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(log->close());
  const RunRecord run = record();
  const RunPoint* const looked = last_looked_at(run);
  ASSERT_NE(looked, nullptr);
  const auto bytes_of = [&](const std::string& who) {
    const auto found = std::find_if(looked->memory.begin(), looked->memory.end(),
                                    [&](const MemoryUse& use) { return use.who == who; });
    return found == looked->memory.end() ? -1 : found->bytes;
  };
  EXPECT_EQ(bytes_of("held by the program"), 6'000'064);
  EXPECT_EQ(bytes_of("queue/q"), 400);
  EXPECT_GT(looked->pss, run.machine.idle_pss);
  EXPECT_EQ(explained_bytes(looked->memory) + bytes_of("outside"), looked->pss - run.machine.idle_pss);
  EXPECT_THAT(content("profile.json"), HasSubstr(R"("who":"outside")"));
  EXPECT_THAT(content("report.html"), HasSubstr("Who holds the memory"));
}

TEST_F(RunLogFilesTest, DataThatLayInMemoryBeforeTheRunHasARowToo) {
  constexpr int64_t kBytes = 64'000'000;
  if (memory_info().pss == 0) GTEST_SKIP() << "the system does not tell";
  Tensor data = Tensor::empty(DType::u8, {1000, kBytes / 1000});
  std::fill_n(data.mutable_data(), kBytes, std::byte{1});
  auto log = open();
  Loader loader(from_tensor_slices({{"x", data}}) | batch(2), {.threads = 1});
  const auto first = loader.next();
  const RunLog::Watch watched = log->watch(loader);
  while (last_looked_at(record()) == nullptr) std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(log->close());
  const RunRecord run = record();
  const RunPoint* const looked = last_looked_at(run);
  ASSERT_NE(looked, nullptr);
  const int64_t all = looked->pss - run.machine.idle_pss;
  EXPECT_GT(all, kBytes * 9 / 10);
  EXPECT_NEAR(static_cast<double>(explained_bytes(looked->memory)), static_cast<double>(all), 0.3 * kBytes)
      << "without the data's share in what it takes at rest, less than nothing is outside";
}

TEST_F(RunLogFilesTest, ALoadersRunLeavesFilesThatTheCheckersAccept) {
  auto log = open();
  Loader loader(small_batches(), {.threads = 1, .run_ahead = 2});
  {
    const RunLog::Watch watched = log->watch(loader);
    while (auto batch = loader.next()) {
      const auto step = log->step();
      ASSERT_TRUE(log->scalar("loss", 1));
    }
    ASSERT_TRUE(log->text("note", "all **well**"));
  }
  ASSERT_TRUE(log->close());
  ASSERT_TRUE(log->close());
  EXPECT_TRUE(is_accepted("check_events.py",
                          " --require loss --require note --require plan --require verdict --require global_step/sec"
                          " --require pipeline/starved_fraction --require pipeline/ready_batches"
                          " --require pipeline/elements_per_sec --require pipeline/bytes_per_sec"
                          " --require pipeline/memory_bytes --require pipeline/wait_ms --require pipeline/step_ms "
                          "--require 'op/*/parallelism'"));
  EXPECT_TRUE(is_accepted("check_timeline.py",
                          "/timeline.json --span step --arg step.step --arg 'range*.unit' --instant 'epoch end'"
                          " --arg 'epoch end.epoch' --counter memory/process"
                          " --counter 'memory/range*' --counter 'window/range*'"));
  const RunRecord run = record();
  EXPECT_TRUE(run.is_whole);
  ASSERT_EQ(run.pipelines.size(), 1U);
  EXPECT_TRUE(run.pipelines[0].has_ended);
  EXPECT_EQ(run.pipelines[0].loader.batches, 40);
  EXPECT_EQ(run.pipelines[0].plan, small_batches().plan());
  EXPECT_GE(run.points.size(), 1U);
  EXPECT_EQ(run.points.back().step, 40);
  EXPECT_THAT(content("verdict.json"), HasSubstr(R"("reason_code":"none")"));
  EXPECT_THAT(content("profile.json"), HasSubstr(R"("stage":"range|map|batch")"));
  EXPECT_THAT(content("report.html"), HasSubstr("Too little was seen"));
  EXPECT_EQ(log->files().timeline, folder_ + "/timeline.json");
}

TEST_F(RunLogFilesTest, ARunThatBeginsAfterItsOnlyPointHasAPointOfItsOwn) {
  auto log = open();
  Loader loader(small_batches(), {.threads = 1});
  {
    const RunLog::Watch watched = log->watch(loader);
    while (record().points.empty()) std::this_thread::sleep_for(1ms);
    while (loader.next()) {
    }
  }
  ASSERT_TRUE(log->close());
  EXPECT_TRUE(is_accepted("check_events.py", " --require 'op/*/parallelism'"));
}

TEST_F(RunLogFilesTest, APointAtTheEndThatComesTooSoonHasTheRatesOfTheOneBefore) {
  const auto run_once = [this](bool& is_near) {
    auto log = open({.sample_every = 1ms, .write_every = 4s});
    Loader loader(small_batches(), {.threads = 1});
    const RunLog::Watch watched = log->watch(loader, "train");
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next());
    std::this_thread::sleep_for(2100ms);
    const FIFOQueue queue({.capacity = 8, .dtypes = {i64}, .name = "input"});
    const RunLog::Watch of_queue = log->watch(queue);  // Has a point at once.
    while (record().points.empty()) std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(queue.enqueue(Element{{Tensor::scalar(int64_t{1})}}));
    for (int i = 0; i < 4; ++i) const auto step = log->step();
    ASSERT_TRUE(log->close());
    const RunRecord run = record();
    is_near = run.points.size() == 2 && run.points[1].seconds - run.points[0].seconds < 2;
    if (!is_near) return;  // The machine stood still.
    const RunPoint &before = run.points[0], &last = run.points[1];
    EXPECT_EQ(last.own_cpus, before.own_cpus);
    EXPECT_EQ(last.other_cpus, before.other_cpus);
    ASSERT_EQ(last.pipelines.size(), 1U);
    EXPECT_EQ(last.pipelines[0].wait_share, before.pipelines.at(0).wait_share);
    EXPECT_GT(before.pipelines[0].wait_share, 0) << "control";
    EXPECT_EQ(last.hand_offs.at(0).figures.size, 1) << "that is no rate";
    EXPECT_EQ(last.step, 4);
    const std::string events = content(std::filesystem::path(log->files().events).filename());
    EXPECT_EQ(test::times_in(events, "global_step/sec"), 1U);
    EXPECT_EQ(test::times_in(events, "pipeline/train/starved_fraction"), 1U);
  };
  bool is_near = false;
  for (int attempt = 0; attempt < 5 && !is_near; ++attempt) run_once(is_near);
  EXPECT_TRUE(is_near) << "in none of five runs a point came soon after another";
}

TEST_F(RunLogFilesTest, AShortRunHasItsPipelineInItsOnlyPoint) {
  auto log = open({.sample_every = 1ms, .write_every = 60s});
  {
    Loader loader(small_batches(), {.threads = 1});
    const RunLog::Watch watched = log->watch(loader, "train");
    while (loader.next()) {
    }
  }
  ASSERT_TRUE(log->close());
  const RunRecord run = record();
  ASSERT_EQ(run.points.size(), 1U);
  ASSERT_EQ(run.points[0].pipelines.size(), 1U) << "though it was not watched any more";
  EXPECT_EQ(run.points[0].pipelines[0].name, "train");
  EXPECT_GT(run.points[0].pipelines[0].wait_share, 0);
  if (run.points[0].seconds < 0.1) {
    EXPECT_EQ(run.points[0].own_cpus, 0) << "the system cannot tell";
  }
}

TEST_F(RunLogFilesTest, WithoutAReportThereIsNone) {
  ASSERT_TRUE(open({.report = false})->close());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/report.html"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/verdict.json"));
}

// Between two points of the charts, and in the timeline at each sample.
TEST_F(RunLogFilesTest, SeesThreadsThatEndBeforeTheNextPoint) {
  auto log = open({.sample_every = 20ms, .write_every = 60s});
  Thread("spinner", [] {
    for (timespec used{}; used.tv_sec == 0 && used.tv_nsec < 200'000'000;)
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    std::this_thread::sleep_for(300ms);  // On a busy machine the monitor may be late.
  }).join();
  ASSERT_TRUE(log->close());
  const RunRecord run = record();
  ASSERT_LE(run.points.size(), 2U) << "control";
  const std::vector<ThreadUse>& threads = run.points.back().threads;
  const auto spinner =
      std::find_if(threads.begin(), threads.end(), [](const auto& use) { return use.name == "spinner"; });
  ASSERT_NE(spinner, threads.end());
  EXPECT_GE(spinner->cpu_s, 0.15);
  EXPECT_EQ(spinner->threads, 0);
  EXPECT_TRUE(is_accepted("check_timeline.py",
                          "/timeline.json --counter cpu/own --counter cpu/others --counter memory/process"));
  const std::string timeline = content("timeline.json");
  size_t shown = 0;
  for (size_t at = timeline.find("\"cpu/own\""); at != std::string::npos; at = timeline.find("\"cpu/own\"", at + 1))
    ++shown;
  EXPECT_GE(shown, 5U);
}

TEST_F(RunLogFilesTest, ATraceThatBeginsLateShowsTheProcessorsOfItsOwnTime) {
  auto log = open({.sample_every = 20ms, .trace = {.is_on = false}});
  Thread("spinner", [] {
    for (timespec used{}; used.tv_sec == 0 && used.tv_nsec < 500'000'000;)
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  }).join();
  trace::start();
  std::this_thread::sleep_for(300ms);
  trace::stop();
  std::vector<int64_t> shown;
  for (const trace::ThreadEvents& thread : trace::collect()) {
    for (const trace::Event& event : thread.events) {
      if (std::string_view(event.name) == "cpu/own") shown.push_back(static_cast<int64_t>(event.value));
    }
  }
  ASSERT_FALSE(shown.empty());
  EXPECT_LT(shown.front(), 40) << "the spinner had ended";
}

struct MonitorUse {
  int64_t sleepers = 0;  // Threads that it saw.
  double cpu_share = 0;  // Of one processor.
};

MonitorUse use_of_monitor(const RunRecord& run) {
  MonitorUse use;
  for (const ThreadUse& one : run.points.back().threads) {
    if (one.name == "sleeper") use.sleepers = one.threads;
    if (one.name == "monitor") use.cpu_share = one.cpu_s / run.points.back().seconds;
  }
  return use;
}

// Looking each millisecond takes up to a third of a processor with sanitizers, also beside no threads, so what is
// tested is what the threads add. That is -0.04 to 0.08, and 0.57 if they are looked at each time.
TEST_F(RunLogFilesTest, ManyThreadsDoNotKeepTheMonitorBusy) {
  const auto second_beside = [&](int threads) {
    auto log = open({.sample_every = 1ms, .write_every = 60s});
    std::atomic<bool> stop = false;
    std::vector<Thread> sleepers;
    for (int i = 0; i < threads; ++i) sleepers.emplace_back("sleeper", [&stop] { stop.wait(false); });
    std::this_thread::sleep_for(1s);
    EXPECT_TRUE(log->close());
    stop = true;
    stop.notify_all();
    for (Thread& one : sleepers) one.join();
    return use_of_monitor(record());
  };
  const MonitorUse none = second_beside(0), many = second_beside(300);
  EXPECT_EQ(many.sleepers, 300) << "control: they are looked at";
  EXPECT_LT(many.cpu_share - none.cpu_share, 0.2);
}

TEST_F(RunLogFilesTest, WithoutAPlaceForItsFilesItCannotBeOpened) {
  std::filesystem::create_directory(folder_);
  std::filesystem::create_symlink("/dev/full", folder_ + "/run.jsonl");
  const auto log = RunLog::open(folder_);
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error().message(), HasSubstr("run.jsonl"));
}

// No file may grow beyond some bytes, as on a disk that is full.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_ = {};
  void (*handler_)(int) = nullptr;
};

TEST_F(RunLogFilesTest, AFullDiskEndsNoRun) {
  auto log = open();
  const SmallFiles full(600);
  Loader loader(small_batches(), {.threads = 1});
  int64_t batches = 0;
  {
    const RunLog::Watch watched = log->watch(loader);
    for (; loader.next(); ++batches) const auto step = log->step();
  }
  EXPECT_EQ(batches, 40);
  EXPECT_FALSE(log->close());
}

TEST_F(RunLogFilesTest, AFolderThatWasUsedBeforeHasTheLastRun) {
  ASSERT_TRUE(open()->close());
  EXPECT_TRUE(record().is_whole) << "control";
  const auto second = open();
  EXPECT_FALSE(record().is_whole);
}

TEST_F(RunLogFilesTest, NamesThatAreNoUtf8EndNothing) {
  auto log = open();
  const auto totals = [] { return PipelineTotals{.calls = 3, .wait_ns = 1}; };
  { const RunLog::Watch watched = log->watch(PipelineSource{.name = "\xff", .totals = totals, .plan = "caf\xe9"}); }
  ASSERT_TRUE(log->close());
  EXPECT_TRUE(is_accepted("check_events.py", " --require 'plan/*' --require 'pipeline/*/starved_fraction'"));
  EXPECT_TRUE(record().is_whole);
}

TEST_F(RunLogFilesTest, AnErrorOfOneFileEndsNoOther) {
  std::filesystem::create_directory(folder_);
  auto log = open();
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  ASSERT_TRUE(log->events()->close());  // Its calls fail from now on.
  Loader loader(small_batches(), {.threads = 1});
  {
    const RunLog::Watch watched = log->watch(loader);
    while (loader.next()) const auto step = log->step();
  }
  EXPECT_FALSE(log->close());
  set_log_sink({});
  EXPECT_EQ(test::times_in(said, "the log of this run is not complete"), 1U);
  EXPECT_TRUE(record().is_whole);
  EXPECT_EQ(record().pipelines.at(0).loader.batches, 40);
}

// The process's trace may still hold spans of a log before it.
TEST_F(RunLogFilesTest, ALogThatRecordsNoTimelineWritesNone) {
  const std::string path = testing::TempDir() + "headpond_timeline_" + std::to_string(now_ns()) + ".json";
  const auto refused = [&](const RunLog& log) {
    const auto written = log.write_timeline(path);
    if (written) return std::string("written");
    EXPECT_EQ(written.error().kind(), ErrorKind::FailedPrecondition);
    EXPECT_FALSE(std::filesystem::exists(path));
    return written.error().message();
  };
  auto first = open();
  { const auto step = first->step(); }
  ASSERT_TRUE(first->write_timeline(path)) << "control";
  std::filesystem::remove(path);
  const auto later = RunLog::open(folder_ + "/later").value();
  EXPECT_THAT(refused(*first), HasSubstr("opened later"));
  EXPECT_EQ(later->write_timeline(path).value().spans, 0) << "the span is the first log's";
  std::filesystem::remove(path);
  ASSERT_TRUE(later->close());
  EXPECT_THAT(refused(*later), HasSubstr("it was closed"));
  EXPECT_THAT(refused(*open({.trace = {.is_on = false}})), HasSubstr("opened without a trace"));
  EXPECT_THAT(refused(*RunLog::open("").value()), HasSubstr("it has no folder"));
}

TEST_F(RunLogFilesTest, AKilledRunCanBeRead) {
  auto log = open();
  Loader loader(small_batches(), {.threads = 1});
  const RunLog::Watch watched = log->watch(loader);
  ASSERT_TRUE(loader.next());
  const auto has_batch = [&] {  // The first point may be from before the batch.
    const RunRecord run = record();
    return !run.pipelines.empty() && run.pipelines.at(0).loader.batches > 0;
  };
  while (!has_batch()) std::this_thread::sleep_for(1ms);
  const RunRecord run = record();
  EXPECT_FALSE(run.is_whole);
  EXPECT_EQ(run.pipelines.at(0).loader.batches, 1);
  EXPECT_GT(run.machine.processors, 0);
}

}  // namespace
}  // namespace headpond
