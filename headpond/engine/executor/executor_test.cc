// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>

#include "headpond/engine/executor/executor_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

// So many tasks, each of which does `work`. They wait for all those of `before`.
class Tasks final : public WorkSource {
 public:
  explicit Tasks(EngineLock& lock, int count, std::function<void()> work, bool waits = false)
      : lock_(lock), left_(count), running_(0), waits_(waits), work_(std::move(work)) {}
  std::shared_ptr<Tasks> before HEADPOND_GUARDED_BY(engine_state);
  bool has_work(ThreadRole role, bool) const HEADPOND_REQUIRES(engine_state) override {
    const bool may = !before || before->left_ + before->running_ == 0;
    return may && left_ > 0 && (role == ThreadRole::io) == waits_;
  }
  bool claim(ThreadRole role, bool needed_now, Task& task) HEADPOND_REQUIRES(engine_state) override {
    if (!has_work(role, needed_now)) return false;
    --left_;
    ++running_;
    task.source = shared_from_this();
    return true;
  }
  int64_t run(Task&, Context&) HEADPOND_REQUIRES(engine_state) override {
    {
      const Unlocked unlocked(lock_);
      work_();
    }
    --running_;
    return 1;
  }
  bool is_blocking() const override { return waits_; }
  bool is_ended() const HEADPOND_REQUIRES(engine_state) override { return left_ == 0; }
  bool is_closed() const override { return false; }
  int64_t target() const override { return 0; }
  StageStats stats() const override { return {}; }
  const char* trace_name() const override { return "tasks"; }

 private:
  EngineLock& lock_;
  int left_ HEADPOND_GUARDED_BY(engine_state), running_ HEADPOND_GUARDED_BY(engine_state);
  const bool waits_;
  const std::function<void()> work_;
};

// An executor with nothing around it.
struct Plain final : IdleWork, std::enable_shared_from_this<Plain> {
  explicit Plain(const LoaderOptions& options)
      : memory(1 << 20),
        consumer(options.consumer_helps),
        executor(lock, consumer, memory, *this, options, options.threads) {}
  static std::shared_ptr<Plain> make(const LoaderOptions& options) {
    auto plain = std::make_shared<Plain>(options);
    plain->executor.set_owner(plain);
    return plain;
  }
  bool has_idle_work() const HEADPOND_REQUIRES(engine_state) override {
    return idle_left > 0 && executor.is_at_the_end();
  }
  void do_idle_work(const char*&) HEADPOND_REQUIRES(engine_state) override { --idle_left; }
  std::shared_ptr<Tasks> add(int count, const std::function<void()>& work, bool waits = false,
                             const WorkSource* parent = nullptr) {
    auto tasks = std::make_shared<Tasks>(lock, count, work, waits);
    const Locked locked(lock);
    executor.add(tasks, parent);
    executor.wake();
    return tasks;
  }
  /// Starts the threads, and waits like a program in next().
  void help_and_wait() {
    Context context;
    const uint64_t seen = consumer.progress();
    if (!executor.help(context, true)) executor.wait(seen);
  }
  void progress() {
    const Locked locked(lock);
    executor.made_progress();
  }

  EngineLock lock;
  MemoryBudget memory;
  Consumer consumer;
  Executor executor;
  int idle_left HEADPOND_GUARDED_BY(engine_state) = 0;
};

TEST(Executor, RunsAllTasksOfAllSources) {
  const auto plain = Plain::make({.threads = 2, .consumer_helps = false});
  std::atomic<int> done = 0;
  const auto count = [&] {
    if (++done == 80) plain->progress();
  };
  plain->add(50, count);
  plain->add(30, count);
  plain->help_and_wait();
  EXPECT_EQ(done, 80);
  plain->executor.stop();
}

TEST(Executor, WhatIsNearestToTheProgramRunsFirst) {
  const auto plain = Plain::make({.threads = 0});
  std::string order;
  const auto near = plain->add(2, [&] { order += "n"; });
  plain->add(
      2, [&] { order += "f"; }, false, near.get());
  plain->add(1, [&] { order += "N"; });
  Context context;
  while (plain->executor.help(context, true)) {
  }
  EXPECT_EQ(order, "Nnnff") << "a child comes after its parent, a new source before all";
  plain->executor.stop();
}

TEST(Executor, WhatIsPrefetchedOrPausedIsNotNeededNow) {
  const auto plain = Plain::make({.threads = 0});
  int done = 0;
  const auto prefetched = plain->add(1, [&] { ++done; });
  const auto paused = plain->add(1, [&] { ++done; });
  {
    const Locked locked(plain->lock);
    prefetched->is_prefetched = paused->is_paused = true;
  }
  Context context;
  EXPECT_FALSE(plain->executor.help(context, true));
  {
    const Locked locked(plain->lock);
    paused->is_paused = false;
  }
  EXPECT_TRUE(plain->executor.help(context, true)) << "control";
  EXPECT_EQ(done, 1);
  plain->executor.stop();
}

TEST(Executor, TasksThatWaitRunOnThreadsOfTheirOwn) {
  const auto plain = Plain::make({.threads = 1, .io_threads = 2, .consumer_helps = false});
  Crowd waiting;
  plain->add(
      3, [&] { waiting.meet(2); }, true);
  std::thread program([&] { plain->help_and_wait(); });
  EXPECT_TRUE(becomes_true([&] { return waiting.entered == 3 && waiting.inside == 0; }));
  EXPECT_EQ(waiting.most, 2) << "as many as it may have";
  plain->progress();
  program.join();
  plain->executor.stop();
}

TEST(Executor, AThreadThatWaitsGoesOnWithWhatAWorkerMade) {
  const auto plain = Plain::make({.threads = 1, .consumer_helps = false});
  std::atomic<bool> made = false, went_on = false;
  const auto after = plain->add(
      1, [&] { went_on = true; }, true);
  const auto before = plain->add(1, [&] { made = true; });
  {
    const Locked locked(plain->lock);
    after->before = before;
  }
  Context context;
  EXPECT_FALSE(plain->executor.help(context, true));  // Starts the threads. Then the program is away, and wakes nobody.
  EXPECT_TRUE(becomes_true([&] { return went_on.load(); })) << "made: " << made;
  plain->executor.stop();
}

TEST(Executor, AWorkerWithoutAPermitGoesOnWhenTheProgramHasHelped) {
  const auto plain = Plain::make({.threads = 1});
  std::atomic<int> done = 0;
  plain->add(3, [&] {
    if (++done == 1) pause_ms(20);  // The program's own task: the worker starts, and finds no permit.
  });
  Context context;
  EXPECT_TRUE(plain->executor.help(context, true));  // Then the program is away, and wakes nobody.
  EXPECT_TRUE(becomes_true([&] { return done == 3; }));
  plain->executor.stop();
}

TEST(Executor, AWorkerWorksBesideAProgramThatHelps) {
  const auto plain = Plain::make({.threads = 2});
  plain->consumer.arrive(plain->lock);
  plain->consumer.leave();
  EXPECT_TRUE(plain->consumer.computes()) << "between two calls, and then one processor is left to it";
  plain->consumer.arrive(plain->lock);
  std::atomic<int> inside = 0;
  std::atomic<bool> were_both = false;
  plain->add(2, [&] {
    ++inside;
    if (becomes_true([&] { return inside == 2; })) were_both = true;
  });
  Context context;
  EXPECT_TRUE(plain->executor.help(context, true));
  EXPECT_TRUE(were_both);
  plain->executor.stop();
}

TEST(Executor, DoesIdleWorkWhenAllElseIsBegun) {
  const auto plain = Plain::make({.threads = 1, .consumer_helps = false});
  {
    const Locked locked(plain->lock);
    plain->idle_left = 3;
  }
  plain->add(5, [] {});
  std::thread program([&] { plain->help_and_wait(); });
  EXPECT_TRUE(becomes_true([&] {
    const Locked locked(plain->lock);
    return plain->idle_left == 0;
  }));
  plain->progress();
  program.join();
  plain->executor.stop();
}

TEST(Executor, StopWaitsForATaskThatRuns) {
  const auto plain = Plain::make({.threads = 1, .consumer_helps = false});
  Gate gate;
  std::atomic<bool> entered = false, left = false;
  plain->add(1, [&] {
    entered = true;
    gate.pass();
    left = true;
  });
  std::thread program([&] { plain->help_and_wait(); });
  ASSERT_TRUE(becomes_true([&] { return entered.load(); }));
  std::thread opening([&] {
    pause_ms(30);
    gate.open = true;
  });
  plain->executor.stop();
  EXPECT_TRUE(left);
  opening.join();
  program.join();
}

}  // namespace
}  // namespace headpond::internal
