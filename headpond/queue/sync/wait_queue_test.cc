// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <stdexcept>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/sync/wait_queue_internal.h"

namespace headpond::internal {
namespace {

using ::testing::ElementsAre;
using WaitQueues = QueueTest;

constexpr std::chrono::nanoseconds kNoWait{0};

// A store of so many things, of which calls take some.
class Things {
 public:
  // When it returns, the call has ended or is queued.
  std::future<WaitResult> take(int64_t count, bool overtakes = false, const Wait& wait = {}) {
    const auto tried = std::make_shared<std::atomic<bool>>(false);
    auto result = later([=, this] {
      return queue.run(CallKind::take, wait, [&](bool is_first) HEADPOND_REQUIRES(queue.mu) {
        *tried = true;
        if ((!is_first && !overtakes) || inside < count) return false;
        inside -= count;
        taken.push_back(count);
        return true;
      });
    });
    eventually([&] { return is_done(result) || *tried; });
    return result;
  }
  void add(int64_t count) {
    MutexLock lock(queue.mu);
    inside += count;
    queue.serve();
  }
  std::vector<int64_t> order() {
    MutexLock lock(queue.mu);
    return taken;
  }

  WaitQueue queue;
  int64_t inside HEADPOND_GUARDED_BY(queue.mu) = 0;
  std::vector<int64_t> taken HEADPOND_GUARDED_BY(queue.mu);
};

TEST_F(WaitQueues, AreServedInOrderOfArrivalHoweverManyOneChangeLetsGo) {
  Things things;
  std::vector<std::future<WaitResult>> calls;
  for (const int64_t count : {3, 1, 2}) calls.push_back(things.take(count));
  things.add(2);
  EXPECT_THAT(things.order(), ElementsAre());
  things.add(4);
  for (auto& call : calls) EXPECT_EQ(call.get(), WaitResult::go);
  EXPECT_THAT(things.order(), ElementsAre(3, 1, 2));
}

TEST_F(WaitQueues, ACallThatMayOvertakeDoesAndOneThatMayNotWaits) {
  Things things;
  auto large = things.take(3);
  EXPECT_EQ(things.take(1, false, {.timeout = kNoWait}).get(), WaitResult::timed_out);
  auto small = things.take(1, true);
  things.add(1);
  EXPECT_EQ(small.get(), WaitResult::go);
  things.add(3);
  EXPECT_EQ(large.get(), WaitResult::go);
  EXPECT_THAT(things.order(), ElementsAre(1, 3));
}

TEST_F(WaitQueues, ACallQueuedAfterOneThatGivesUpIsServed) {
  Things things;
  std::stop_source stop;
  auto stopped = things.take(9, false, {.stop = stop.get_token()});
  auto next = things.take(1);
  things.add(1);
  EXPECT_THAT(things.order(), ElementsAre());
  stop.request_stop();
  EXPECT_EQ(stopped.get(), WaitResult::stopped);
  EXPECT_EQ(next.get(), WaitResult::go);

  eventually([&] {  // Unless the second one arrives too late to queue after the first.
    auto timed_out = things.take(9, false, {.timeout = milliseconds(20)});
    auto last = things.take(1);
    const bool was_queued = things.queue.waiting(CallKind::take) == 2;
    things.add(1);
    EXPECT_EQ(timed_out.get(), WaitResult::timed_out);
    EXPECT_EQ(last.get(), WaitResult::go);
    return was_queued;
  });
}

TEST_F(WaitQueues, AStoppedTokenMakesNoAttemptAndNoPatienceMakesOne) {
  WaitQueue queue;
  int64_t attempts = 0;
  std::stop_source stop;
  stop.request_stop();
  const auto count = [&](bool) { return ++attempts > 100; };
  EXPECT_EQ(queue.run(CallKind::put, {.stop = stop.get_token()}, count), WaitResult::stopped);
  EXPECT_EQ(attempts, 0);
  EXPECT_EQ(queue.run(CallKind::put, {.timeout = kNoWait}, count), WaitResult::timed_out);
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(queue.run(CallKind::put, {.timeout = std::chrono::nanoseconds::min()}, count), WaitResult::timed_out);
  EXPECT_EQ(queue.waiting(CallKind::put), 0);
}

TEST_F(WaitQueues, WhatAnAttemptThrowsIsThrownByItsOwnCallAndByNoOther) {
  Things things;
  auto throwing = later([&] {
    return things.queue.run(CallKind::take, {}, [&](bool) HEADPOND_REQUIRES(things.queue.mu) -> bool {
      if (things.inside == 0) return false;
      throw std::runtime_error("mine");
    });
  });
  eventually([&] { return things.queue.waiting(CallKind::take) == 1; });
  auto next = things.take(1);
  EXPECT_NO_THROW(things.add(1));
  EXPECT_THROW(throwing.get(), std::runtime_error);
  EXPECT_EQ(next.get(), WaitResult::go);
}

TEST_F(WaitQueues, ACancelEndsAllWaitsAndThoseToComeButNotWhatCanGoOn) {
  Things things;
  auto waiting = things.take(1);
  auto second = things.take(1);
  things.queue.cancel();
  EXPECT_EQ(waiting.get(), WaitResult::cancelled);
  EXPECT_EQ(second.get(), WaitResult::cancelled);
  EXPECT_EQ(things.take(1).get(), WaitResult::cancelled);
  things.add(1);
  EXPECT_EQ(things.take(1).get(), WaitResult::go);
}

TEST_F(WaitQueues, TheTwoSidesLetEachOtherGoOnInOneChange) {
  WaitQueue queue;
  int64_t room = 0;
  int64_t inside = 0;
  const auto move_one = [](int64_t& from, int64_t& to) {
    if (from == 0) return false;
    --from;
    ++to;
    return true;
  };
  std::vector<std::future<WaitResult>> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(later([&] { return queue.run(CallKind::put, {}, [&](bool) { return move_one(room, inside); }); }));
    calls.push_back(later([&] { return queue.run(CallKind::take, {}, [&](bool) { return move_one(inside, room); }); }));
  }
  eventually([&] { return queue.waiting(CallKind::put) == 3 && queue.waiting(CallKind::take) == 3; });
  {
    MutexLock lock(queue.mu);
    room = 1;
    queue.serve();
  }
  for (auto& call : calls) EXPECT_EQ(call.get(), WaitResult::go);
  EXPECT_EQ(room, 1);
}

TEST_F(WaitQueues, AnErrorSaysWhatEndedTheWait) {
  const Error late = wait_error("Put", WaitResult::timed_out, {.timeout = milliseconds(5)}, "it is full");
  EXPECT_EQ(late.kind(), ErrorKind::DeadlineExceeded);
  EXPECT_EQ(late.message(), "Put operation timed out after 5 ms: it is full");
  const Error stopped = wait_error("Put", WaitResult::stopped, {}, "it is full");
  EXPECT_EQ(stopped.kind(), ErrorKind::Cancelled);
  EXPECT_EQ(stopped.message(), "Put operation was cancelled: a stop was requested; it is full");
}

}  // namespace
}  // namespace headpond::internal
