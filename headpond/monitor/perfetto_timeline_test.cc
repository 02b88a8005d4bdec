// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "headpond/base/thread.h"
#include "headpond/monitor/timeline.h"

namespace headpond {
namespace {

using trace::Category;
using trace::Event;
using trace::Kind;
using trace::ThreadEvents;

Event span(const char* name, int64_t start, int64_t length, Category category = Category::op) {
  return {name, start, length, 0, Kind::span, category};
}
Event counter(const char* name, int64_t at, int64_t value) {
  return {name, at, 0, static_cast<uint64_t>(value), Kind::counter, Category::op};
}
Event flow(Kind kind, int64_t at, uint64_t id) { return {"element", at, 0, id, kind, Category::op}; }

constexpr trace::ArgNames kTold{{"file", "offset"}, true};
Event telling(Event event, const char* file, int64_t offset) {
  event.args = {&kTold, {trace::text_arg(file), offset}};
  return event;
}
Event of_tasks(Event event, uint64_t count) {
  event.value = count;
  return event;
}
Event instant(const char* name, int64_t at) { return {name, at, 0, 0, Kind::instant, Category::wait}; }

class PerfettoTimelineTest : public testing::Test {
 protected:
  PerfettoTimelineTest() { std::filesystem::create_directories(folder_); }
  ~PerfettoTimelineTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::vector<ThreadEvents>& threads) const {
    const std::string path = folder_ + "/" + name;
    const auto report = write_timeline(path, threads);
    EXPECT_TRUE(report) << report.error();
    return path;
  }
  // By a reader that shares no code with the writer.
  static bool hold_the_same(const std::string& perfetto, const std::string& json) {
    const std::string reader = HEADPOND_PYTHON " " HEADPOND_TOOLS "/perfetto_trace.py ";
    return std::system((reader + "'" + perfetto + "' --same-as '" + json + "'").c_str()) == 0;
  }
  const std::string folder_ = testing::TempDir() + "headpond_perfetto_" + std::to_string(this_thread_id());
};

std::vector<ThreadEvents> some_events() {
  return {{7, "map/10", {flow(Kind::flow_end, 2'000'250, 3), span("map", 2'000'200, 700)}, 0},
          {9,
           "map/2",
           {flow(Kind::flow_begin, 1'000'050, 3), span("read", 1'000'010, 90, Category::io),
            span("read", 1'000'100, 0, Category::io), span("", 1'000'100, 5'000), span("make", 1'000'000, 20'000),
            counter("queue/a", 1'000'300, 12), counter("queue/a", 1'000'400, 0)},
           0},
          {8,
           "consumer",
           {flow(Kind::flow_begin, 3'000'000, uint64_t{1} << 60), span("wait", 3'000'000, 10, Category::wait),
            flow(Kind::flow_end, 3'000'100, uint64_t{1} << 60), span("step", 2'999'999, 1'000'000, Category::step),
            counter("memory/process", 3'000'000, int64_t{1} << 40),
            counter("odd", 3'000'001, std::numeric_limits<int64_t>::min())},
           2}};
}

TEST_F(PerfettoTimelineTest, HoldsWhatTheJsonHolds) {
  EXPECT_TRUE(hold_the_same(write("a.pftrace", some_events()), write("a.json", some_events())));
  EXPECT_TRUE(hold_the_same(write("none.pftrace", {}), write("none.json", {})));
}

TEST_F(PerfettoTimelineTest, HoldsWhatSpansAndInstantsSay) {
  const auto events = [](int64_t offset, const char* file, int64_t at,
                         uint64_t tasks = 3) -> std::vector<ThreadEvents> {
    return {{7,
             "read/0",
             {telling(span("read", 100, 90, Category::io), file, offset), instant("stop", at),
              telling(instant("error", 300), nullptr, std::numeric_limits<int64_t>::max()),
              of_tasks(telling(span("map", 400, 50), file, 1), tasks)},
             0}};
  };
  const std::string perfetto = write("a.pftrace", events(-7, "a.bin", 250));
  EXPECT_TRUE(hold_the_same(perfetto, write("a.json", events(-7, "a.bin", 250))));
  EXPECT_FALSE(hold_the_same(perfetto, write("b.json", events(8, "a.bin", 250)))) << "control";
  EXPECT_FALSE(hold_the_same(perfetto, write("c.json", events(-7, "b.bin", 250)))) << "control";
  EXPECT_FALSE(hold_the_same(perfetto, write("d.json", events(-7, "a.bin", 251)))) << "control";
  EXPECT_FALSE(hold_the_same(perfetto, write("e.json", events(-7, "a.bin", 250, 4)))) << "control";
}

TEST_F(PerfettoTimelineTest, IsCompressedIfItsNameSaysSo) {
  const std::string plain = write("a.pftrace", some_events()), packed = write("a.perfetto-trace.gz", some_events());
  EXPECT_TRUE(hold_the_same(packed, write("a.json.gz", some_events())));
  EXPECT_LT(std::filesystem::file_size(packed), std::filesystem::file_size(plain));
}

TEST_F(PerfettoTimelineTest, OneEventLessIsFound) {
  const std::string perfetto = write("a.pftrace", some_events());
  for (size_t thread = 0; thread < 3; ++thread) {
    for (size_t event = 0; event < some_events()[thread].events.size(); ++event) {
      if (event > 1) continue;  // Each starts a process.
      auto fewer = some_events();
      fewer[thread].events.erase(fewer[thread].events.begin() + static_cast<std::ptrdiff_t>(event));
      EXPECT_FALSE(hold_the_same(perfetto, write("fewer.json", fewer))) << thread << " " << event;
    }
  }
}

TEST_F(PerfettoTimelineTest, ManyEventsAreWrittenInPieces) {
  std::vector<ThreadEvents> threads = {{7, "map/0", {}, 0}};
  for (int64_t i = 0; i < 20'000; ++i) threads[0].events.push_back(span("map", 10 * i, 7));
  EXPECT_TRUE(hold_the_same(write("many.pftrace", threads), write("many.json", threads)));
}

}  // namespace
}  // namespace headpond
