// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/timeline.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "headpond/base/clock.h"
#include "headpond/base/thread.h"

namespace headpond {
namespace {

using testing::HasSubstr;
using testing::Not;
using trace::Category;
using trace::Event;
using trace::Kind;
using trace::ThreadEvents;

template <class Name>
constexpr bool kTakesTwoNames = requires(Name name) {
  write_timeline({name, name});
} || requires(Name name) {
  write_timeline({name, name}, std::vector<ThreadEvents>());
};
static_assert(!kTakesTwoNames<const char*>);

Event span(const char* name, int64_t start, int64_t length, Category category = Category::op) {
  return {name, start, length, 0, Kind::span, category};
}
Event counter(int64_t at, int64_t value) {
  return {"queue/a", at, 0, static_cast<uint64_t>(value), Kind::counter, Category::op};
}
constexpr trace::ArgNames kRead{{"file", "offset", "bytes"}, true}, kTask{{"epoch", "unit", "first", "count"}};
Event with(Event event, const trace::Args& args) {
  event.args = args;
  return event;
}
Event instant(const char* name, int64_t at, const trace::Args& args = {}) {
  return {name, at, 0, 0, Kind::instant, Category::step, args};
}
Event flow_begin(int64_t at, uint64_t id) { return {"element", at, 0, id, Kind::flow_begin, Category::op}; }
Event flow_end(int64_t at, uint64_t id) { return {"element", at, 0, id, Kind::flow_end, Category::op}; }

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() { std::filesystem::create_directories(folder_); }
  ~TimelineTest() override { std::filesystem::remove_all(folder_); }

  /// Writes the events, which the strict checker must accept, and reads the file back.
  std::string written(const std::vector<ThreadEvents>& threads) {
    const auto report = write_timeline(path_, threads);
    EXPECT_TRUE(report) << report.error();
    if (report) report_ = *report;
    EXPECT_TRUE(strict_checker_accepts(path_));
    return read(path_);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static bool strict_checker_accepts(const std::string& path, const std::string& flags = "") {
    const std::string checker = HEADPOND_PYTHON " " HEADPOND_TOOLS "/check_timeline.py ";
    return std::system((checker + "'" + path + "' " + flags).c_str()) == 0;
  }
  ptrdiff_t files_in_folder() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

  const std::string folder_ = testing::TempDir() + "headpond_timeline_" + std::to_string(this_thread_id());
  const std::string path_ = folder_ + "/timeline.json";
  TimelineReport report_;
};

TEST_F(TimelineTest, WritesNothingButMetadataForAnEmptyTrace) {
  EXPECT_THAT(written({}), HasSubstr(R"("displayTimeUnit":"ms","traceEvents":[{"name":"process_name","ph":"M")"));
  EXPECT_EQ(report_.threads, 0);
}

TEST_F(TimelineTest, WritesSpansInMicrosecondsFromTheFirstEvent) {
  const std::string text =
      written({{7, "read/0", {span("read", 5'001'500, 1'000, Category::io), span("make", 5'000'000, 2'500)}, 0}});
  EXPECT_THAT(text, HasSubstr(R"("tid":7,"cat":"op","ts":0,"dur":2.500})"));
  EXPECT_THAT(text, HasSubstr(R"("tid":7,"cat":"io","ts":1.500,"dur":1})"));
  EXPECT_EQ(report_.spans, 2);
}

TEST_F(TimelineTest, SaysOfASpanOfSeveralTasksHowManyTheyAre) {
  Event tasks = with(span("map", 0, 9'000), {&kTask, {1, 5, 7, 96}}), one = with(span("map", 9'500, 1'000), tasks.args);
  tasks.value = 3;
  const std::string text = written({{7, "read/0", {tasks, one}, 0}});
  EXPECT_THAT(text, HasSubstr(R"("dur":9,"args":{"epoch":1,"unit":5,"first":7,"count":96,"tasks":3}})"));
  EXPECT_THAT(text, HasSubstr(R"("dur":1,"args":{"epoch":1,"unit":5,"first":7,"count":96}})"));
}

TEST_F(TimelineTest, WritesWhatSpansAndInstantsSay) {
  const int64_t file = trace::text_arg("a \"b\".bin");
  const std::string text =
      written({{7,
                "read/0",
                {with(span("read", 0, 1'000, Category::io), {&kRead, {file, 7, 4096}}),
                 with(span("map", 2'000, 1'000), {&kTask, {1, 5, trace::kNoArg, 8}}), instant("epoch end", 3'500),
                 instant("error", 4'000, {&kRead, {file, trace::kNoArg, 3}})},
                0}});
  EXPECT_THAT(text, HasSubstr(R"("dur":1,"args":{"file":"a \"b\".bin","offset":7,"bytes":4096}})"));
  EXPECT_THAT(text, HasSubstr(R"("args":{"epoch":1,"unit":5,"count":8}})"));
  EXPECT_THAT(text, HasSubstr(R"({"name":"epoch end","ph":"i","pid":)"));
  EXPECT_THAT(text, HasSubstr(R"("cat":"step","ts":3.500,"s":"t"})"));
  EXPECT_THAT(text, HasSubstr(R"("ts":4,"s":"t","args":{"file":"a \"b\".bin","bytes":3}})"));
  EXPECT_EQ(report_.instants, 2);
  EXPECT_EQ(report_.spans, 2);
  EXPECT_TRUE(strict_checker_accepts(path_, "--instant 'epoch end' --arg read.bytes --arg error.file"));
  EXPECT_FALSE(strict_checker_accepts(path_, "--instant stop")) << "control";
  EXPECT_FALSE(strict_checker_accepts(path_, "--arg map.first")) << "control: it is not known";
}

TEST_F(TimelineTest, DrawsAnArrowFromProducerToConsumer) {
  const std::string text = written({{7, "p", {flow_begin(50, 3), span("make", 0, 100)}, 0},
                                    {8, "consumer", {flow_end(150, 3), span("step", 120, 100)}, 0}});
  EXPECT_THAT(text, HasSubstr(R"("ph":"s","pid":)"));
  EXPECT_THAT(text, HasSubstr(R"("cat":"DataFlow","id":3,"ts":0.050})"));
  EXPECT_THAT(text, HasSubstr(R"("cat":"DataFlow","id":3,"ts":0.150,"bp":"e"})"));
  EXPECT_EQ(report_.flows, 1);
  EXPECT_EQ(report_.flow_ends_left_out, 0);
}

TEST_F(TimelineTest, DrawsOneArrowThroughTwoQueues) {
  written({{7, "read/0", {flow_begin(50, 3), span("read", 0, 100)}, 0},
           {8, "map/0", {flow_end(200, 3), flow_begin(300, 3), span("map", 150, 200)}, 0},
           {9, "consumer", {flow_end(450, 3), span("step", 400, 100)}, 0}});
  EXPECT_EQ(report_.flows, 1);
  EXPECT_EQ(report_.flow_ends_left_out, 0);
}

TEST_F(TimelineTest, LeavesOutArrowsThatMissAnEnd) {
  written({{7, "p", {flow_begin(10, 1), flow_begin(20, 2), span("make", 0, 100)}, 0},
           {8, "consumer", {flow_end(150, 2), flow_end(160, 5), span("step", 120, 100)}, 0}});
  EXPECT_EQ(report_.flows, 1);
  EXPECT_EQ(report_.flow_ends_left_out, 2);
}

TEST_F(TimelineTest, LeavesOutArrowsWhoseSpanWasDropped) {
  written({{7, "p", {flow_begin(10, 1)}, 1}, {8, "consumer", {flow_end(150, 1), span("step", 120, 100)}, 0}});
  EXPECT_EQ(report_.flows, 0);
  EXPECT_EQ(report_.flow_ends_left_out, 2);
  EXPECT_EQ(report_.dropped_events, 1);
}

TEST_F(TimelineTest, LeavesOutArrowsBackInTime) {
  written({{7, "p", {flow_begin(500, 1), span("make", 450, 100)}, 0},
           {8, "consumer", {flow_end(150, 1), span("step", 120, 100)}, 0}});
  EXPECT_EQ(report_.flows, 0);
}

TEST_F(TimelineTest, KeepsIdsApartThatADoubleCannotTell) {
  const uint64_t id = (uint64_t{1} << 60) + 1;
  EXPECT_THAT(written({{7, "p", {flow_begin(10, id), flow_end(20, id), span("make", 0, 100)}, 0}}),
              HasSubstr(R"("id":"0x1000000000000001")"));
}

TEST_F(TimelineTest, SurvivesEveryName) {
  std::string bytes = "\"\\\n\x01\x7f\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80";
  bytes += std::string(1, '\0') + "é𝄞\xe2\x80\xa8";
  const std::string text = written({{7, bytes, {span(bytes.c_str(), 0, 1), span("", 2, 1)}, 0}});
  EXPECT_THAT(text, HasSubstr("é𝄞"));
  EXPECT_THAT(text, HasSubstr("\"unnamed\""));
}

TEST_F(TimelineTest, CutsSpansThatOverlapAndSaysSo) {
  written({{7, "t", {span("a", 0, 100), span("b", 50, 100), span("c", 60, 70), span("d", 200, -5)}, 0}});
  EXPECT_EQ(report_.spans_cut, 2);
  EXPECT_EQ(report_.spans, 4);
}

TEST_F(TimelineTest, PutsTheOuterOfTwoEqualSpansFirst) {
  const std::string text = written({{7, "t", {span("inner", 0, 100), span("outer", 0, 100)}, 0}});
  EXPECT_LT(text.find("\"outer\""), text.find("\"inner\""));
}

TEST_F(TimelineTest, MergesThreadsThatHadTheSameId) {
  const std::string text =
      written({{7, "producer/0", {span("a", 0, 10)}, 0}, {7, "producer/1", {span("b", 20, 10)}, 0}});
  EXPECT_THAT(text, HasSubstr("\"producer/0 ...\""));
  EXPECT_EQ(report_.threads, 1);
}

TEST_F(TimelineTest, OrdersTracksFromProducersToConsumer) {
  const std::string text = written({{1, "monitor", {counter(0, 1)}, 0},
                                    {2, "main", {counter(0, 1)}, 0},
                                    {3, "producer/10", {counter(0, 1)}, 0},
                                    {4, "producer/2", {counter(0, 1)}, 0}});
  EXPECT_LT(text.find("producer/2"), text.find("producer/10"));
  EXPECT_LT(text.find("producer/10"), text.find("\"main\""));
  EXPECT_LT(text.find("\"main\""), text.find("\"monitor\""));
}

TEST_F(TimelineTest, TellsWhatWasDropped) {
  EXPECT_THAT(written({{7, "t", {span("a", 0, 1)}, 12}, {8, "u", {span("a", 0, 1)}, 30}}),
              HasSubstr(R"("otherData":{"dropped_events":42,)"));
}

TEST_F(TimelineTest, WritesManyEventsInPieces) {
  ThreadEvents thread = {7, "t", {}, 0};
  for (int64_t i = 0; i < 30'000; ++i) thread.events.push_back(span("work", i * 10, 5));
  EXPECT_GT(written({thread}).size(), size_t{2} << 20);
  EXPECT_EQ(report_.spans, 30'000);
}

TEST_F(TimelineTest, ShowsWhatThreadsRecorded) {
  trace::start();
  Thread producer("producer/0", [] {
    const trace::Span make("make", Category::op);
    const trace::Span enqueue("enqueue", Category::wait);
    trace::flow_begin(1);
    trace::counter("queue/a", 1);
  });
  producer.join();
  {
    const trace::Span step("step", Category::step);
    const trace::Span dequeue("dequeue", Category::wait);
    trace::flow_end(1);
    trace::counter("queue/a", 0);
  }
  trace::stop();
  ASSERT_TRUE(write_timeline(path_));
  EXPECT_TRUE(strict_checker_accepts(path_, "--thread producer/0 --thread main --counter queue/a --flows 1"));
  EXPECT_FALSE(strict_checker_accepts(path_, "--flows 2"));
}

TEST_F(TimelineTest, IsGzippedWhenItsNameSaysSo) {
  const std::string gz = path_ + ".gz";
  ASSERT_TRUE(write_timeline(gz, {{7, "t", {span("a", 0, 1)}, 0}}));
  EXPECT_EQ(read(gz).substr(0, 2), "\x1f\x8b");
  EXPECT_TRUE(strict_checker_accepts(gz));
}

TEST_F(TimelineTest, ReplacesAnOlderFileAndLeavesNothingElse) {
  std::ofstream(path_) << "old";
  EXPECT_THAT(written({}), Not(HasSubstr("old")));
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(TimelineTest, ReplacesTheTargetOfALinkAndKeepsItsMode) {
  const std::string target = folder_ + "/target";
  std::ofstream(target) << "old";
  std::filesystem::permissions(target, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("target", path_);
  EXPECT_THAT(written({}), Not(HasSubstr("old")));
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_THAT(read(target), Not(HasSubstr("old")));
  EXPECT_EQ(std::filesystem::status(target).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(TimelineTest, WritesIntoAPipeAndLeavesIt) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const int reader = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_TRUE(write_timeline(path_, std::vector<ThreadEvents>()));
  std::string text(4096, '\0');
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(reader, text.data(), text.size()))));
  close(reader);
  EXPECT_THAT(text, HasSubstr("traceEvents"));
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(TimelineTest, KeepsTheOldFileWhenItCannotWrite) {
  std::filesystem::create_directory(path_);  // Cannot be replaced by a file.
  const auto report = write_timeline(path_, std::vector<ThreadEvents>());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("cannot rename the timeline " + path_ + ": Is a directory"));
  EXPECT_EQ(files_in_folder(), 1);
}

TEST_F(TimelineTest, NamesAFolderThatIsMissing) {
  const auto report = write_timeline(folder_ + "/none/timeline.json", std::vector<ThreadEvents>());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(report.error().os_error(), ENOENT);
}

TEST_F(TimelineTest, RefusesAFileWithoutAName) {
  const auto report = write_timeline("");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(report.error().message(), HasSubstr("path=''"));
}

TEST_F(TimelineTest, TellsALimitAsAllFilesDo) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit few{16, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &few);
  const auto report = write_timeline(path_, std::vector<ThreadEvents>());
  setrlimit(RLIMIT_FSIZE, &before);
  (void)std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(report.error().os_error(), EFBIG);
}

}  // namespace
}  // namespace headpond
