// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <vector>

#include "headpond/base/thread.h"
#include "headpond/io/record/record_frame.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Name>
constexpr bool kTakesTwoNames = requires(Name name) {
  EventWriter::open({name, name});
};
static_assert(!kTakesTwoNames<const char*>);

struct Point {
  std::string tag;
  int64_t step;
  float value;
  bool operator==(const Point& other) const {
    return tag == other.tag && step == other.step &&
           (value == other.value || (std::isnan(value) && std::isnan(other.value)));
  }
};
void PrintTo(const Point& point, std::ostream* out) { *out << point.tag << "@" << point.step << "=" << point.value; }

struct ReadBack {
  std::string version;
  std::vector<Point> points;
};

Point parse_value(protozero::pbf_reader value, int64_t step) {
  Point point = {.tag = "", .step = step, .value = 0};
  while (value.next()) {
    if (value.tag() == 1) {
      point.tag = value.get_string();
    } else if (value.tag() == 2) {
      point.value = value.get_float();
    } else {
      value.skip();
    }
  }
  return point;
}

void parse_event(protozero::pbf_reader event, ReadBack& into) {
  int64_t step = 0;
  while (event.next()) {
    if (event.tag() == 1) {
      EXPECT_GT(event.get_double(), 1.6e9);
    } else if (event.tag() == 2) {
      step = event.get_int64();
    } else if (event.tag() == 3) {
      into.version = event.get_string();
    } else {
      protozero::pbf_reader summary = event.get_message();
      while (summary.next()) into.points.push_back(parse_value(summary.get_message(), step));
    }
  }
}

class EventWriterTest : public testing::Test {
 protected:
  ~EventWriterTest() override { std::filesystem::remove_all(top_); }

  std::unique_ptr<EventWriter> open(EventWriterOptions options = {}) {
    auto writer = EventWriter::open(folder_, options);
    EXPECT_TRUE(writer) << writer.error();
    return std::move(*writer);
  }
  /// What stands in the file now, every checksum verified.
  static ReadBack read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string data{std::istreambuf_iterator<char>(file), {}};
    ReadBack found;
    uint64_t offset = 0;
    while (auto frame = read_frame(std::as_bytes(std::span(data)), offset, path)) {
      parse_event({reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size()}, found);
      offset = frame->next_offset;
    }
    EXPECT_EQ(offset, data.size());
    return found;
  }
  static bool checker_accepts(const std::string& flags) {
    return std::system((HEADPOND_PYTHON " " HEADPOND_TOOLS "/check_events.py " + flags).c_str()) == 0;
  }

  const std::string top_ = testing::TempDir() + "headpond_events_" + std::to_string(this_thread_id());
  const std::string folder_ = top_ + "/deep/run";
};

TEST_F(EventWriterTest, NamesItsFileAsTensorBoardExpects) {
  const auto first = open();
  const auto second = open();
  EXPECT_NE(first->path(), second->path());
  EXPECT_THAT(std::filesystem::path(first->path()).filename().string(),
              testing::MatchesRegex("events\\.out\\.tfevents\\.[0-9]+\\.[^/]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(first->path(), HasSubstr("." + std::to_string(getpid()) + "."));
}

TEST_F(EventWriterTest, WritesTheVersionAtOnceAndScalarsAtClose) {
  const auto writer = open();
  EXPECT_EQ(read(writer->path()).version, "brain.Event:2");
  ASSERT_TRUE(writer->scalar("loss", 0.5, 0));
  ASSERT_TRUE(writer->scalar("queue/a/fraction_of_32_full", 0.75, 1));
  ASSERT_TRUE(writer->scalar("loss", 0.25, int64_t{1} << 40));
  EXPECT_THAT(read(writer->path()).points, testing::IsEmpty());
  ASSERT_TRUE(writer->close());
  EXPECT_THAT(read(writer->path()).points,
              ElementsAre(Point{"loss", 0, 0.5F}, Point{"queue/a/fraction_of_32_full", 1, 0.75F},
                          Point{"loss", int64_t{1} << 40, 0.25F}));
}

TEST_F(EventWriterTest, IsReadByTheCheckerWhichFindsAFlippedByte) {
  const auto writer = open();
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(writer->scalar("loss", 0.1 * step, step));
  ASSERT_TRUE(writer->close());
  EXPECT_TRUE(checker_accepts(writer->path() + " --require loss"));
  EXPECT_FALSE(checker_accepts(writer->path() + " --require accuracy"));
  std::fstream file(writer->path(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(60);
  file.put('!');
  file.close();
  EXPECT_FALSE(checker_accepts(writer->path()));
}

TEST_F(EventWriterTest, WritesTextsAndHistogramsThatTheCheckerAccepts) {
  const auto writer = open();
  ASSERT_TRUE(writer->text("plan", "    range\n    batch", 1));
  ASSERT_TRUE(writer->histogram("one", std::vector<double>{2.5}, 1));
  ASSERT_TRUE(writer->histogram("ms", std::vector<double>{1, 2, 3, 1000, std::nan("")}, 1));
  ASSERT_TRUE(writer->histogram("none", std::vector<double>{std::nan("")}, 1));
  EXPECT_EQ(writer->text("plan", "\xff", 2).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(writer->text("", "x", 2).error().kind(), ErrorKind::InvalidArgument);
  ASSERT_TRUE(writer->close());
  EXPECT_TRUE(checker_accepts(writer->path() + " --require plan --require one --require ms"));
  EXPECT_FALSE(checker_accepts(writer->path() + " --require none"));
}

TEST_F(EventWriterTest, KeepsValuesThatAreNoNumbers) {
  const auto writer = open();
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300}) ASSERT_TRUE(writer->scalar("v", value, 1));
  ASSERT_TRUE(writer->close());
  EXPECT_THAT(read(writer->path()).points, ElementsAre(Point{"v", 1, NAN}, Point{"v", 1, HUGE_VALF},
                                                       Point{"v", 1, -HUGE_VALF}, Point{"v", 1, HUGE_VALF}));
}

TEST_F(EventWriterTest, FlushesWhenTheTimeHasCome) {
  const auto writer = open({.flush_every = std::chrono::nanoseconds(0)});
  ASSERT_TRUE(writer->scalar("loss", 1, 1));
  EXPECT_EQ(read(writer->path()).points.size(), 1U);
}

TEST_F(EventWriterTest, FlushesWhenAsked) {
  const auto writer = open();
  ASSERT_TRUE(writer->scalar("loss", 1, 1));
  ASSERT_TRUE(writer->flush());
  EXPECT_EQ(read(writer->path()).points.size(), 1U);
}

TEST_F(EventWriterTest, LosesNothingInItsDestructor) {
  std::string path;
  {
    const auto writer = open();
    path = writer->path();
    ASSERT_TRUE(writer->scalar("loss", 1, 1));
  }
  EXPECT_EQ(read(path).points.size(), 1U);
}

TEST_F(EventWriterTest, LeavesWholeRecordsWhenTheProgramIsKilled) {
  std::filesystem::create_directories(folder_);
  const pid_t child = fork();
  if (child == 0) {
    auto writer = EventWriter::open(folder_);
    for (int step = 0; step < 10'000; ++step) (void)(*writer)->scalar("loss", 1, step);
    _exit(0);  // As a kill does: no destructor runs.
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  const ReadBack found = read(std::filesystem::directory_iterator(folder_)->path().string());
  EXPECT_EQ(found.version, "brain.Event:2");
  EXPECT_GT(found.points.size(), 5'000U);
  EXPECT_LT(found.points.size(), 10'000U);
}

TEST_F(EventWriterTest, TakesScalarsFromManyThreads) {
  const auto writer = open();
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back("t" + std::to_string(t), [&, t] {
        for (int step = 0; step < 250; ++step) EXPECT_TRUE(writer->scalar("t" + std::to_string(t), step, step));
      });
    }
  }
  ASSERT_TRUE(writer->close());
  const ReadBack found = read(writer->path());
  EXPECT_EQ(found.points.size(), 1000U);
  for (int t = 0; t < 4; ++t) {
    int64_t next = 0;
    for (const Point& point : found.points) {
      if (point.tag != "t" + std::to_string(t)) continue;
      EXPECT_EQ(point.step, next++);
    }
    EXPECT_EQ(next, 250);
  }
}

TEST_F(EventWriterTest, RefusesTagsThatAreNoText) {
  const auto writer = open();
  for (const char* tag : {"", "\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80"}) {
    const auto written = writer->scalar(tag, 1, 1);
    ASSERT_FALSE(written) << tag;
    EXPECT_EQ(written.error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_TRUE(writer->scalar("Größe/𝄞 €", 1, 1));
}

TEST_F(EventWriterTest, RefusesScalarsAfterClose) {
  const auto writer = open();
  ASSERT_TRUE(writer->close());
  EXPECT_TRUE(writer->close());
  const auto written = writer->scalar("loss", 1, 1);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::FailedPrecondition);
}

TEST_F(EventWriterTest, NamesTheFolderThatCannotBeMade) {
  const auto writer = EventWriter::open("/dev/null/run");
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message(), HasSubstr("/dev/null/run"));
  EXPECT_EQ(writer.error().os_error(), ENOTDIR);
}

}  // namespace
}  // namespace headpond
