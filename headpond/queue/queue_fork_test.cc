// SPDX-License-Identifier: Apache-2.0
// After a fork() the child cannot use queues and the like that were made before: their threads run in the parent only.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/queue/staging/barrier.h"
#include "headpond/queue/staging/map_staging_area.h"

namespace headpond::internal {
namespace {

bool is_refused(const auto& result) {
  return !result && result.error().kind() == ErrorKind::FailedPrecondition &&
         result.error().message().find("FIFOQueue 'pond' was made before fork()") != std::string::npos;
}
bool has_ended(const auto& result) { return !result && result.error().kind() == ErrorKind::OutOfRange; }

// Whether all of `works` holds in a child, in time.
void expect_in_child(const std::function<bool()>& works) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(works() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFSIGNALED(status)) << "hung";
  EXPECT_EQ(status, 0);
}

// A full queue of two: one put holds the lock and waits, another waits for the lock. This is a queue's usual state.
class Forked : public QueueTest {
 protected:
  Forked() {
    for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(queue_->enqueue(number(i)));
    for (int64_t i = 2; i < 4; ++i) {
      waiting_.push_back(later([&] { return queue_->enqueue(number(9)); }));
      until_waiting(*queue_, i - 1, 0);
    }
  }
  ~Forked() override {
    // The parent's queue knows nothing of the child.
    EXPECT_EQ(queue_->stats().waiting_enqueues, 2);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue_->dequeue());
    for (auto& each : waiting_) EXPECT_TRUE(each.get());
  }

  std::optional<FIFOQueue> queue_ = FIFOQueue([] {
    QueueOptions options = scalars(2);
    options.name = "pond";
    return options;
  }());
  std::vector<std::future<Result<void>>> waiting_;
};

TEST_F(Forked, AllThatPutsTakesOrClosesIsRefusedAtOnce) {
  expect_in_child([&] {
    return is_refused(queue_->enqueue(number(9))) && is_refused(queue_->enqueue_many(numbers({8, 9}))) &&
           is_refused(queue_->try_enqueue(number(9))) && is_refused(queue_->dequeue()) &&
           is_refused(queue_->dequeue_many(2)) && is_refused(queue_->dequeue_up_to(2)) &&
           is_refused(queue_->try_dequeue()) && is_refused(queue_->close()) && is_refused(queue_->close(true));
  });
}

TEST_F(Forked, WhatOnlyAsksStillAnswers) {
  expect_in_child([&] {
    queue_->close_with_error(Error(ErrorKind::DataLoss, "child"));
    return !queue_->is_closed() && queue_->size() == 2 && queue_->name() == "pond" && queue_->capacity() == 2;
  });
}

TEST_F(Forked, TheLastHandleGoes) {
  expect_in_child([&] {
    queue_.reset();
    return true;
  });
}

// Without a second thread: ThreadSanitizer ends a process that starts one after a fork().
TEST_F(Forked, AtAQueueOfItsOwnTheChildWaits) {
  expect_in_child([] {
    const FIFOQueue own(scalars(1));
    const Wait brief{.timeout = milliseconds(1)};
    const auto timed_out = [](const auto& result) {
      return !result && result.error().kind() == ErrorKind::DeadlineExceeded;
    };
    return timed_out(own.dequeue(brief)) && own.enqueue(number(7)) && timed_out(own.enqueue(number(8), brief)) &&
           own.close() && drain(own) == range(7, 8) && has_ended(own.dequeue());
  });
}

using Forks = QueueTest;

// A lock that another thread holds while a process forks is held in the child for ever.
TEST_F(Forks, ACoordinatorAndItsRunnersStayBehind) {
  const FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  QueueRunner runner(queue, {[&](const std::stop_token& stop) { return queue.enqueue(number(1), {.stop = stop}); }});
  runner.start(coordinator);
  until_waiting(queue, 1, 0);
  expect_in_child([&] {
    const auto is_precondition = [](const Error& error) { return error.kind() == ErrorKind::FailedPrecondition; };
    const auto stopped = coordinator.request_stop(Error(ErrorKind::DataLoss, "child"));
    const auto joined = coordinator.join();
    const Error unstarted =
        refusal([&] { coordinator.start("late", [](const std::stop_token&) { return Result<void>(); }); });
    coordinator.~Coordinator();
    return !stopped && is_precondition(stopped.error()) && !joined && is_precondition(joined.error()) &&
           is_precondition(unstarted);
  });
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Forks, StagingAreasAndBarriersStayBehind) {
  auto area = std::make_unique<StagingArea>(StagingOptions{.dtypes = {i64}, .capacity = 1});
  auto map = std::make_unique<MapStagingArea>(StagingOptions{.dtypes = {i64}});
  auto barrier = std::make_unique<Barrier>(BarrierOptions{.dtypes = {i64}, .shapes = {Shape{}}});
  ASSERT_TRUE(area->put(number(1)));
  auto waiting = later([&] { return area->put(number(2)); });
  eventually([&] { return area->waiting_puts() == 1; });
  expect_in_child([&] {
    const auto refused = [](const auto& result) {
      return !result && result.error().message().find("was made before fork()") != std::string::npos;
    };
    const bool told = refused(area->put(number(3))) && refused(area->get()) && refused(area->peek(0)) &&
                      refused(map->put(1, number(1))) && refused(map->get()) && refused(barrier->take_many(1)) &&
                      refused(barrier->insert_many(0, {"a"}, numbers({1})[0])) && refused(barrier->close());
    area.reset();
    map.reset();
    barrier.reset();
    return told;
  });
  EXPECT_EQ(value(*area->get()), 1);
  EXPECT_TRUE(waiting.get());
}

}  // namespace
}  // namespace headpond::internal
