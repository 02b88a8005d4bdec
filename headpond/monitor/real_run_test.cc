// SPDX-License-Identifier: Apache-2.0
// The whole room on real queues (a producer, two queues, a consumer) and on a Loader; what they leave is read back by
// the checkers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "headpond/base/clock.h"
#include "headpond/base/thread.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/monitor/timeline.h"
#include "headpond/monitor/wait_account.h"
#include "headpond/queue/queue.h"

namespace headpond {
namespace {

constexpr int64_t kElements = 200;

Element element_of(int64_t value) {
  return Element{{Tensor::from(std::span<const int64_t>(std::array{value}), Shape{})}};
}

// What one test leaves in a folder that goes with it.
struct Folder {
  ~Folder() { std::filesystem::remove_all(path); }
  bool accepted_by(const std::string& checker, const std::string& arguments) const {
    const std::string command = HEADPOND_PYTHON " " HEADPOND_TOOLS "/";
    return std::system((command + checker + " " + path + arguments).c_str()) == 0;
  }
  const std::string path = testing::TempDir() + "headpond_real_run_" + std::to_string(now_ns());
};

class RealRunTest : public testing::Test {
 protected:
  RealRunTest() {
    trace::start();
    producer_ = Thread("producer/0", [this] {
      for (int64_t i = 0; i < kElements; ++i) {
        const trace::Span make("make", trace::Category::op);
        ASSERT_TRUE(fifo_.enqueue(element_of(i)));
      }
      (void)fifo_.close();
    });
    shuffler_ = Thread("shuffle/0", [this] {
      while (auto element = fifo_.dequeue()) ASSERT_TRUE(shuffle_.enqueue(std::move(*element)));
      (void)shuffle_.close();
    });
  }

  const Folder folder_;
  const std::unique_ptr<EventWriter> events_ = std::move(*EventWriter::open(folder_.path));
  FIFOQueue fifo_{{.capacity = 16, .dtypes = {i64}, .shapes = {{}}, .name = "input"}};
  RandomShuffleQueue shuffle_{{.capacity = 60, .dtypes = {i64}, .shapes = {{}}, .name = "shuffle_batch"}, 20};
  Thread producer_, shuffler_;
};

TEST(QueueSource, TellsWhatTheQueueIs) {
  RandomShuffleQueue queue({.capacity = 60, .dtypes = {i64}, .shapes = {{}}, .name = "shuffle_batch"}, 20);
  const QueueSource source = queue_source(queue);
  EXPECT_EQ(fullness(source, 40).tag, "queue/shuffle_batch/fraction_over_20_of_40_full");
  ASSERT_TRUE(queue.enqueue(element_of(1)));
  EXPECT_EQ(source.fill().size, 1);
  EXPECT_EQ(obtainable(source, source.fill()), 0);
  ASSERT_TRUE(queue.close());
  EXPECT_EQ(obtainable(source, source.fill()), 1);
}

TEST_F(RealRunTest, LeavesATimelineAndEventsThatTheCheckersAccept) {
  WaitAccount account;
  int64_t steps = 0;
  {
    QueueMonitor monitor({.sample_every = std::chrono::milliseconds(1), .events = events_.get()});
    const auto input = monitor.watch(queue_source(fifo_));
    const auto shuffled = monitor.watch(queue_source(shuffle_));
    while (auto batch = account.measure([&] { return shuffle_.dequeue_up_to(8); })) {
      const trace::Span step("step", trace::Category::step);
      ++steps;
    }
    account.pause();
  }
  producer_.join();
  shuffler_.join();
  trace::stop();
  EXPECT_EQ(steps, kElements / 8);
  EXPECT_EQ(account.summary().calls, steps + 1);
  ASSERT_TRUE(events_->close());
  EXPECT_TRUE(folder_.accepted_by("check_events.py",
                                  " --require queue/input/fraction_of_16_full"
                                  " --require queue/shuffle_batch/fraction_over_20_of_40_full"));
  const auto report = write_timeline(folder_.path + "/timeline.json");
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->spans_cut, 0);
  EXPECT_TRUE(folder_.accepted_by("check_timeline.py",
                                  "/timeline.json --thread producer/0 --thread shuffle/0 --thread main"
                                  " --counter queue/input --counter queue/shuffle_batch --flows 400"));
}

bool is_recorded(std::string_view name) {
  for (const trace::ThreadEvents& thread : trace::collect()) {
    for (const trace::Event& event : thread.events) {
      if (event.name == name) return true;
    }
  }
  return false;
}

TEST(LoaderRun, LeavesATimelineWithItsThreadsSpansAndWindows) {
  const Folder folder;
  std::filesystem::create_directory(folder.path);
  const Dataset dataset = range(400) | map([](int64_t x) {
                            for (const int64_t end = now_ns() + 20'000; now_ns() < end;) {
                            }
                            return x;
                          }) |
                          batch(8);
  std::string name;
  // On a busy machine each batch may be ready when it is asked for: then once more.
  for (int runs = 0; runs == 0 || (runs < 5 && !is_recorded("wait for a batch")); ++runs) {
    trace::start();  // Forgets what was recorded.
    Loader loader(dataset, {.threads = 2, .consumer_helps = false});
    WaitAccount account;
    int64_t steps = 0;
    while (true) {
      const auto batch = account.measure([&] { return loader.next(); });
      if (!batch) break;
      const trace::Span step("step", trace::Category::step);
      ++steps;
    }
    account.pause();
    trace::stop();
    EXPECT_EQ(steps, 50);
    EXPECT_EQ(account.summary().calls, steps + 1);
    name = loader.stats().stages.at(0).name;
  }
  ASSERT_EQ(name, "range|map|batch");
  ASSERT_TRUE(write_timeline(folder.path + "/timeline.json"));
  EXPECT_TRUE(folder.accepted_by("check_timeline.py", "/timeline.json --thread 'headpond/*' --span '" + name +
                                                          "' --span 'wait for a batch' --counter 'window/" + name +
                                                          "'"));
}

}  // namespace
}  // namespace headpond
