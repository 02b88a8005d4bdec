// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "headpond/base/cpu.h"
#include "headpond/base/thread.h"
#include "headpond/engine/executor/watch/thread_watch_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

constexpr const char* kStage = "read|map";
constexpr int kNode = 0;  // Its address names an operator.

// A watch with nothing around it, and a thread that computes in an operator of a stage.
class Watching {
 public:
  Watching() : computing_([this] { compute(); }) {
    EXPECT_TRUE(becomes_true([this] {
      const Locked locked(lock);
      return thread.id != 0 && thread.in_operator == &kNode;
    }));
  }
  ~Watching() {
    stop_ = true;
    computing_.join();
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  /// A wait that another thread ends after `ms`.
  void wait(int64_t ms) {
    bool waits = true;
    CondVar ready;
    std::thread waking([&] {
      pause_ms(ms);
      const Locked locked(lock);
      waits = false;
      ready.notify_one();
    });
    {
      const Locked locked(lock);
      watch.wait(
          ready, [&] { return waits; }, [] {});
    }
    waking.join();
  }
  /// Again and again, until it has looked in one of the waits.
  void wait_until_it_looks() {
    const double before = seen().ns;
    EXPECT_TRUE(becomes_true([&] {
      wait(10);
      return seen().ns > before;
    }));
  }
  void add() {
    const Locked locked(lock);
    watch.add(thread);
  }
  SeenInWaits seen() {
    const Locked locked(lock);
    return watch.seen_in_waits();
  }
  /// A look at other threads, as if the last one were long ago.
  std::optional<double> look() {
    const int64_t began = now_ns(), cpu = thread_cpu_ns(), others_cpu = cpu_ns_of(thread.id);
    busy_us(2000);
    const Locked locked(lock);
    const auto others = watch.look_at_others(now_ns() + 1'000'000'000);
    // A busy machine may give the process no processor.
    const int64_t least = (now_ns() - began) / 3;
    both_ran = thread_cpu_ns() - cpu > least && cpu_ns_of(thread.id) - others_cpu > least;
    return others;
  }

  EngineLock lock;
  ThreadWatch watch{lock};
  WatchedThread thread;
  bool both_ran = false;  ///< The thread that looked and the one that computes, since it began to.

 private:
  void compute() {
    operator_here = &thread.in_operator;
    {
      const Locked locked(lock);
      thread.id = this_thread_id();
      thread.doing = kStage;
    }
    const InOperator in(&kNode);
    while (!stop_) {
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread computing_;
};

TEST(ThreadWatch, LooksAtThreadsWhileTheProgramWaits) {
  Watching watching;
  watching.add();
  watching.wait_until_it_looks();
  const SeenInWaits seen = watching.seen();
  EXPECT_GT(seen.own_cpu_ns, 0);
  EXPECT_TRUE(is_so_in_one_run([&] {  // It may lose the processor between its looks at the two clocks.
    watching.wait_until_it_looks();
    return watching.seen().process_cpu_ns >= 0.9 * watching.seen().own_cpu_ns;
  }));
  ASSERT_EQ(seen.doing.size(), 1U);
  EXPECT_GE(seen.doing.at(kStage).all(), 1) << "once in a wait, and again in one that is long";
  ASSERT_EQ(seen.operators.size(), 1U);
  EXPECT_EQ(seen.operators.at(&kNode).all(), seen.doing.at(kStage).all());
}

TEST(ThreadWatch, CountsTheProcessorsOfItsThreadsAndOfTheProcess) {
  Watching watching;
  // Whether in one of some waits the thread that computes had a fifth of a processor, and the figure shows it.
  const auto shows = [&](const auto& figure) {
    return becomes_true([&] {
      const SeenInWaits before = watching.seen();
      watching.wait_until_it_looks();
      const SeenInWaits after = watching.seen();
      return figure(after) - figure(before) > 0.2 * (after.ns - before.ns);
    });
  };
  EXPECT_TRUE(shows([](const SeenInWaits& seen) { return seen.process_cpu_ns - seen.own_cpu_ns; })) << "not watched";
  watching.add();
  EXPECT_TRUE(shows([](const SeenInWaits& seen) { return seen.own_cpu_ns; }));
}

TEST(ThreadWatch, CountsWhatTheKernelTakes) {
  Watching watching;
  std::jthread asking([](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)doing_of(this_thread_id());
  });
  EXPECT_TRUE(becomes_true([&] {
    watching.wait_until_it_looks();
    return watching.seen().process_system_ns > 0;
  }));
}

TEST(ThreadWatch, DoesNotCountAnOperatorThatEndsMeanwhile) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "needs two processors: an operator must end while it is looked at";
  EXPECT_TRUE(becomes_true([] {  // A busy machine may leave the thread in one.
    Watching watching;
    WatchedThread changing{.doing = kStage};
    std::jthread thread([&](const std::stop_token& stop) {
      {
        const Locked locked(watching.lock);
        changing.id = this_thread_id();
        watching.watch.add(changing);
      }
      for (uintptr_t i = 1; !stop.stop_requested(); ++i) {
        changing.in_operator.store(reinterpret_cast<const void*>(i), std::memory_order_relaxed);
      }
    });
    watching.wait_until_it_looks();
    thread.request_stop();
    thread.join();
    return watching.seen().doing.contains(kStage) && watching.seen().operators.empty();
  }));
}

TEST(ThreadWatch, LooksAtSomeOfManyThreadsAndKeepsSomeOfManyOperators) {
  Watching watching;
  std::array<WatchedThread, 20> threads;
  for (WatchedThread& thread : threads) {
    thread.id = this_thread_id();
    thread.doing = kStage;
    const Locked locked(watching.lock);
    watching.watch.add(thread);
  }
  watching.wait_until_it_looks();
  EXPECT_GE(watching.seen().doing.at(kStage).all(), 16);
  EXPECT_EQ(watching.seen().doing.at(kStage).all() % 16, 0) << "in each look";
  for (uintptr_t look = 0; look < 70; ++look) {
    for (size_t i = 0; i < threads.size(); ++i) {
      threads[i].in_operator = reinterpret_cast<const void*>(1 + look * threads.size() + i);
    }
    watching.wait_until_it_looks();
  }
  EXPECT_EQ(watching.seen().operators.size(), 1024U);
}

TEST(ThreadWatch, KnowsAStageWhoseThreadsAreOftenInALock) {
  Watching watching;
  watching.add();
  const auto are_often_locked = [&] {
    const Locked locked(watching.lock);
    return watching.watch.are_often_locked(kStage);
  };
  while (watching.seen().doing[kStage].all() < 40) watching.wait_until_it_looks();
  EXPECT_FALSE(are_often_locked()) << "control: it computes";
  std::mutex mu;
  std::unique_lock held(mu);
  std::array<WatchedThread, 2> blocked;
  std::vector<std::thread> threads;
  for (WatchedThread& thread : blocked) {
    threads.emplace_back([&] {
      {
        const Locked locked(watching.lock);
        thread.id = this_thread_id();
        thread.doing = kStage;
        watching.watch.add(thread);
      }
      const std::lock_guard waits(mu);
    });
  }
  EXPECT_TRUE(becomes_true([&] {
    watching.wait_until_it_looks();
    return are_often_locked();
  }));
  held.unlock();
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadWatch, LooksAgainInALongWait) {
  Watching watching;
  watching.add();
  watching.wait(1200);
  EXPECT_GE(watching.seen().doing.at(kStage).all(), 2);
}

TEST(ThreadWatch, DoesNotLookAtAThreadThatIsNotThereOrHasNoTask) {
  Watching watching;
  WatchedThread before_it_begins{.doing = kStage};
  {
    const Locked locked(watching.lock);
    watching.watch.add(before_it_begins);
    watching.watch.add(watching.thread);
    watching.watch.remove(watching.thread);
  }
  watching.wait_until_it_looks();
  EXPECT_TRUE(watching.seen().doing.empty());
  {
    const Locked locked(watching.lock);
    watching.watch.add(watching.thread);
    watching.thread.doing = nullptr;
  }
  watching.wait_until_it_looks();
  EXPECT_TRUE(watching.seen().doing.empty());
}

TEST(ThreadWatch, DoesNotLookInAWaitThatEndsAtOnce) {
  Watching watching;
  watching.add();
  CondVar ready;
  {
    const Locked locked(watching.lock);
    watching.watch.wait(
        ready, [] { return false; }, [] {});
  }
  EXPECT_EQ(watching.seen().ns, 0);
}

TEST(ThreadWatch, LooksSeldom) {
  EXPECT_TRUE(becomes_true([] {  // A busy machine may be too slow to tell.
    Watching watching;
    watching.add();
    const int64_t begin = now_ns();
    watching.wait(4);
    const double first = watching.seen().ns;
    watching.wait(4);
    if (first == 0 || now_ns() > begin + 20'000'000) return false;
    EXPECT_EQ(watching.seen().ns, first);
    return true;
  }));
}

TEST(ThreadWatch, CountsTheProcessorsOfThreadsThatItDoesNotWatch) {
  Watching watching;
  EXPECT_FALSE(watching.look()) << "the first one";
  EXPECT_TRUE(becomes_true([&] { return watching.look().value_or(0) > 0.2; }));
  {
    const Locked locked(watching.lock);
    EXPECT_FALSE(watching.watch.look_at_others(0)) << "the last look is not long ago";
  }
  watching.add();
  (void)watching.look();
  EXPECT_TRUE(becomes_true([&] { return watching.look().value_or(1) < 0.2 && watching.both_ran; }))
      << "control: it is watched";
  std::thread([&] { EXPECT_FALSE(watching.look()) << "another thread calls next() now"; }).join();
}

}  // namespace
}  // namespace headpond::internal
