// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include "headpond/base/clock.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond {
namespace {

using internal::becomes_true;
using internal::busy_us;
using internal::pause_ms;

Step busy(int64_t us) {
  return map([us](int64_t x) {
    busy_us(us);
    return x;
  });
}

// Takes batches, with a pause after each, until threads have been idle, too.
LoaderStats taken(Loader& loader, int batches) {
  for (int i = 0; i < batches && loader.next(); ++i) pause_ms(8);
  return loader.stats();
}

double of_stages(const LoaderStats& stats) {
  double all = 0;
  for (const StageStats& stage : stats.stages) all += stage.totals.open.wall_ns + stage.totals.make.wall_ns;
  return all;
}

// All threads are asleep, so that no task is in progress and the epoch is still open.
bool is_at_rest(const Loader& loader) {
  const LoaderStats before = loader.stats();
  pause_ms(20);
  return of_stages(loader.stats()) == of_stages(before);
}

// How long the Loader's threads that are alive have waited for a processor; 0 where the system does not say.
double queue_ns_of_threads() {
  double all = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    double runs_ns = 0, queue_ns = 0;
    if (name.starts_with("headpond/")) std::ifstream(task.path() / "schedstat") >> runs_ns >> queue_ns;
    all += queue_ns;
  }
  return all;
}

// A thread loses time where it chooses its next task: microseconds for each millisecond of work, unless it has to wait
// for a processor just then.
TEST(ThreadTimes, TasksAndIdleTimeAreAllOfTheTimeOfEachThread) {
  for (const int threads : {1, 2, 4}) {
    Loader loader(range(4000) | busy(1000) | batch(4), {.threads = threads, .run_ahead = 4, .consumer_helps = false});
    const int64_t begin = now_ns();
    (void)taken(loader, 60);
    ASSERT_TRUE(becomes_true([&] { return is_at_rest(loader); }));
    pause_ms((now_ns() - begin) / 1'000'000);  // So that threads are idle for half of the time, whatever else runs.
    const LoaderStats stats = loader.stats();
    const double all = static_cast<double>(now_ns() - begin) * threads, queue_ns = queue_ns_of_threads();
    const auto& [alive_ns, tasks_ns, idle_ns] = stats.compute_times;
    EXPECT_LE(alive_ns, all) << threads;
    EXPECT_LE(tasks_ns + idle_ns, alive_ns) << threads << ": nothing counts twice";
    EXPECT_GT(tasks_ns + idle_ns + queue_ns, 0.95 * all) << threads;
    EXPECT_LT(tasks_ns, 0.6 * all) << threads << ", control: without idle time much is missing";
  }
}

// What a stage lacks room for is what its only thread lacks work for. The last pause is not over, so it counts not yet.
TEST(ThreadTimes, OfOneThreadTheStageIsIdleWhenTheThreadIs) {
  constexpr int kPauseMs = 100;
  Loader loader(range(400) | busy(1000) | batch(4), {.threads = 1, .run_ahead = 2, .consumer_helps = false});
  const int64_t begin = now_ns();
  for (int i = 0; i < 10 && loader.next(); ++i) pause_ms(kPauseMs);
  const LoaderStats stats = loader.stats();
  const auto all = static_cast<double>(now_ns() - begin);
  const StageTotals& totals = stats.stages.at(0).totals;
  const double idle_ns = totals.full_ns + totals.refused_ns, last_ns = 1.5e6 * kPauseMs;
  EXPECT_LE(of_stages(stats) + idle_ns, all);
  EXPECT_GT(of_stages(stats) + idle_ns + last_ns + queue_ns_of_threads(), 0.95 * all);
  EXPECT_LT(of_stages(stats) + last_ns, 0.6 * all) << "control: without idle time much is missing";
}

TEST(ThreadTimes, TasksAreThoseOfTheStages) {
  const Step waits = map(
      [](int64_t x) {
        pause_ms(1);
        return x;
      },
      {.blocking = true});
  const Dataset numbers = range(1 << 20);
  for (const Dataset& dataset : {numbers | busy(200) | batch(4), numbers | waits | batch(4)}) {
    for (const bool helps : {false, true}) {
      Loader loader(dataset, {.threads = 2, .run_ahead = 8, .consumer_helps = helps});
      (void)taken(loader, 20);
      ASSERT_TRUE(becomes_true([&] { return is_at_rest(loader); }));
      const LoaderStats stats = loader.stats();
      const double of_threads = stats.compute_times.tasks_ns + stats.io_times.tasks_ns;
      EXPECT_NEAR(of_threads + stats.steps.helped_ns, of_stages(stats), 1e-6 * of_stages(stats)) << dataset.plan();
      EXPECT_GT(of_threads, 0) << dataset.plan();
    }
  }
}

TEST(ThreadTimes, ThreadsThatWaitForFilesHaveTheirOwn) {
  const Step waits = map(
      [](int64_t x) {
        pause_ms(5);
        return x;
      },
      {.blocking = true});
  Loader loader(range(1 << 20) | waits, {.threads = 1, .run_ahead = 8});
  (void)taken(loader, 40);
  ASSERT_TRUE(becomes_true([&] { return is_at_rest(loader); }));
  const LoaderStats stats = loader.stats();
  const auto& [alive_ns, tasks_ns, idle_ns] = stats.io_times;
  EXPECT_GT(tasks_ns, 0);
  EXPECT_GT(tasks_ns + idle_ns + queue_ns_of_threads(), 0.95 * alive_ns);
  EXPECT_LE(tasks_ns + idle_ns, alive_ns);
  EXPECT_EQ(taken(*std::make_unique<Loader>(range(100), LoaderOptions{.threads = 1}), 10).io_times.alive_ns, 0)
      << "control: there is none";
}

TEST(ThreadTimes, EndWithTheThreads) {
  Loader loader(range(4000) | busy(100) | batch(4), {.threads = 2, .run_ahead = 2});
  (void)taken(loader, 5);
  loader.close();
  const double at_the_end = loader.stats().compute_times.alive_ns;
  pause_ms(20);
  EXPECT_EQ(loader.stats().compute_times.alive_ns, at_the_end);
  EXPECT_GT(at_the_end, 0);
}

}  // namespace
}  // namespace headpond
