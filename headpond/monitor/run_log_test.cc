// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/ops.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/run/live_run.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/staging/map_staging_area.h"
#include "headpond/queue/staging/staging_area.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class RunLogTest : public testing::Test {
 protected:
  ~RunLogTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<RunLog> open(RunLogOptions options = {.sample_every = 1ms, .write_every = 20ms}) {
    auto log = RunLog::open(folder_, options);
    EXPECT_TRUE(log) << log.error();
    return std::move(*log);
  }
  bool is_accepted(const std::string& checker, const std::string& arguments) const {
    const std::string command = HEADPOND_PYTHON " " HEADPOND_TOOLS "/" + checker + " " + folder_ + arguments;
    return std::system(command.c_str()) == 0;
  }
  std::string content(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  RunRecord record() const {
    auto run = read_run(folder_);
    EXPECT_TRUE(run) << run.error();
    return run ? *run : RunRecord();
  }

  const std::string folder_ = testing::TempDir() + "headpond_run_log_" + std::to_string(now_ns());
};

Dataset numbers() {
  return range(160) | map([](int64_t x) { return x + 1; }) | batch(4);
}

TEST_F(RunLogTest, AQueueThatCannotBeWatchedLeavesNothingBehind) {
  auto log = open();
  EXPECT_THROW((void)log->watch(QueueSource{.name = "x", .fill = nullptr}), Exception);
  Loader loader(numbers(), {.threads = 1});
  {
    const RunLog::Watch watched = log->watch(loader);
    while (loader.next()) {
    }
  }
  ASSERT_TRUE(log->close());
  for (const RunPoint& point : record().points) EXPECT_THAT(point.hand_offs, testing::IsEmpty());
}

TEST_F(RunLogTest, QueuesOfOneNameHaveTheirOwnRows) {
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

TEST_F(RunLogTest, APointTellsWhoHoldsTheMemory) {
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

TEST_F(RunLogTest, DataThatLayInMemoryBeforeTheRunHasARowToo) {
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

TEST_F(RunLogTest, OthersListenIfTheyMay) {
  auto log = open({.sample_every = 1ms, .write_every = 10ms, .live = true});
  Loader loader(numbers(), {.threads = 1});
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

TEST_F(RunLogTest, ALoadersRunLeavesFilesThatTheCheckersAccept) {
  auto log = open();
  Loader loader(numbers(), {.threads = 1, .run_ahead = 2});
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
  EXPECT_EQ(run.pipelines[0].plan, numbers().plan());
  EXPECT_GE(run.points.size(), 1U);
  EXPECT_EQ(run.points.back().step, 40);
  EXPECT_THAT(content("verdict.json"), HasSubstr(R"("reason_code":"none")"));
  EXPECT_THAT(content("profile.json"), HasSubstr(R"("stage":"range|map|batch")"));
  EXPECT_THAT(content("report.html"), HasSubstr("Too little was seen"));
  EXPECT_EQ(log->files().timeline, folder_ + "/timeline.json");
}

TEST_F(RunLogTest, ARunThatBeginsAfterItsOnlyPointHasAPointOfItsOwn) {
  auto log = open();
  Loader loader(numbers(), {.threads = 1});
  {
    const RunLog::Watch watched = log->watch(loader);
    while (record().points.empty()) std::this_thread::sleep_for(1ms);
    while (loader.next()) {
    }
  }
  ASSERT_TRUE(log->close());
  EXPECT_TRUE(is_accepted("check_events.py", " --require 'op/*/parallelism'"));
}

TEST_F(RunLogTest, APointAtTheEndThatComesTooSoonHasTheRatesOfTheOneBefore) {
  const auto run_once = [this](bool& is_near) {
    auto log = open({.sample_every = 1ms, .write_every = 4s});
    Loader loader(numbers(), {.threads = 1});
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

TEST_F(RunLogTest, AShortRunHasItsPipelineInItsOnlyPoint) {
  auto log = open({.sample_every = 1ms, .write_every = 60s});
  {
    Loader loader(numbers(), {.threads = 1});
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
  if (run.points[0].seconds < 0.1) EXPECT_EQ(run.points[0].own_cpus, 0) << "the system cannot tell";
}

TEST_F(RunLogTest, WithoutAReportThereIsNone) {
  ASSERT_TRUE(open({.report = false})->close());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/report.html"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/verdict.json"));
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
  std::optional<Loader> loader(std::in_place, numbers(), LoaderOptions{.threads = 1});
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
  Loader loader(numbers(), {.threads = 1, .consumer_helps = false});
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
  Loader loader(numbers(), {.threads = 1, .consumer_helps = false});
  const RunLog::Watch watched = log->watch(loader, "train");
  while (loader.next()) {
  }
  EXPECT_EQ(log->profile({.view = ProfileView::stage})->size(), 1U);
  EXPECT_EQ(log->diagnose().code, ReasonCode::device_bound) << "control";
}

// Between two points of the charts, and in the timeline at each sample.
TEST_F(RunLogTest, SeesThreadsThatEndBeforeTheNextPoint) {
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

TEST_F(RunLogTest, ATraceThatBeginsLateShowsTheProcessorsOfItsOwnTime) {
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
TEST_F(RunLogTest, ManyThreadsDoNotKeepTheMonitorBusy) {
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

TEST_F(RunLogTest, AfterCloseNothingIsWatched) {
  auto log = open();
  ASSERT_TRUE(log->close());
  const Loader loader(numbers());
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
  Loader loader(numbers(), {.threads = 1});
  const RunLog::Watch watched = log->watch(loader);
  ASSERT_TRUE(loader.next());
  ASSERT_TRUE(log->scalar("loss", 1));
  EXPECT_EQ(log->events(), nullptr);
  EXPECT_FALSE(log->diagnose().findings.empty());
  ASSERT_TRUE(log->close());
  EXPECT_EQ(log->files().events, "");
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(RunLogTest, WithoutAPlaceForItsFilesItCannotBeOpened) {
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

TEST_F(RunLogTest, AFullDiskEndsNoRun) {
  auto log = open();
  const SmallFiles full(600);
  Loader loader(numbers(), {.threads = 1});
  int64_t batches = 0;
  {
    const RunLog::Watch watched = log->watch(loader);
    for (; loader.next(); ++batches) const auto step = log->step();
  }
  EXPECT_EQ(batches, 40);
  EXPECT_FALSE(log->close());
}

TEST_F(RunLogTest, AFolderThatWasUsedBeforeHasTheLastRun) {
  ASSERT_TRUE(open()->close());
  EXPECT_TRUE(record().is_whole) << "control";
  const auto second = open();
  EXPECT_FALSE(record().is_whole);
}

TEST_F(RunLogTest, NamesThatAreNoUtf8EndNothing) {
  auto log = open();
  const auto totals = [] { return PipelineTotals{.calls = 3, .wait_ns = 1}; };
  { const RunLog::Watch watched = log->watch(PipelineSource{.name = "\xff", .totals = totals, .plan = "caf\xe9"}); }
  ASSERT_TRUE(log->close());
  EXPECT_TRUE(is_accepted("check_events.py", " --require 'plan/*' --require 'pipeline/*/starved_fraction'"));
  EXPECT_TRUE(record().is_whole);
}

TEST_F(RunLogTest, AnErrorOfOneFileEndsNoOther) {
  std::filesystem::create_directory(folder_);
  auto log = open();
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  ASSERT_TRUE(log->events()->close());  // Its calls fail from now on.
  Loader loader(numbers(), {.threads = 1});
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

// The process's trace may still hold spans of a log before it.
TEST_F(RunLogTest, ALogThatRecordsNoTimelineWritesNone) {
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

TEST_F(RunLogTest, AKilledRunCanBeRead) {
  auto log = open();
  Loader loader(numbers(), {.threads = 1});
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
