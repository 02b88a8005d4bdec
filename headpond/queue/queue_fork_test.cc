// SPDX-License-Identifier: Apache-2.0
// What the child of a fork() can do with a queue at which threads waited that it does not have.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"

namespace headpond::internal {
namespace {

bool is_refused(const auto& result) {
  return !result && result.error().kind() == ErrorKind::FailedPrecondition &&
         result.error().message().find("FIFOQueue 'pond' was made before fork()") != std::string::npos;
}
bool has_ended(const auto& result) { return !result && result.error().kind() == ErrorKind::OutOfRange; }

// A full queue of two at which a put waits in its turn, another in line: so a queue is most of its time.
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

  // Whether all of `works` holds in a child, in time.
  static void expect_in_child(const std::function<bool()>& works) {
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

  std::optional<FIFOQueue> queue_ = FIFOQueue([] {
    QueueOptions options = scalars(2);
    options.name = "pond";
    return options;
  }());
  std::vector<std::future<Result<void>>> waiting_;
};

TEST_F(Forked, APutThatWouldWaitIsRefused) {
  expect_in_child([&] {
    return is_refused(queue_->enqueue(number(9))) && is_refused(queue_->enqueue_many(numbers({8, 9}))) &&
           is_refused(queue_->try_enqueue(number(9))) &&
           is_refused(queue_->enqueue(number(9), {.timeout = milliseconds(1)}));
  });
}

TEST_F(Forked, WhatIsInsideCanBeTakenThenATakeIsRefused) {
  expect_in_child([&] {
    return values(*queue_->dequeue_many(2)) == range(0, 2) && is_refused(queue_->dequeue()) &&
           is_refused(queue_->dequeue_up_to(2));
  });
}

TEST_F(Forked, CloseWithCancelClosesAtOnce) {
  expect_in_child([&] {
    return queue_->close(true) && queue_->close(true) && queue_->is_closed() && !queue_->enqueue(number(9)) &&
           drain(*queue_) == range(0, 2) && has_ended(queue_->dequeue());
  });
}

TEST_F(Forked, CloseHasNobodyToStandBehind) {
  expect_in_child([&] {
    return queue_->close() && !queue_->close() && queue_->close(true) && queue_->is_closed() &&
           drain(*queue_) == range(0, 2) && has_ended(queue_->dequeue());
  });
}

TEST_F(Forked, TheLastHandleGoes) {
  expect_in_child([&] {
    queue_.reset();
    return true;
  });
}

// Without a second thread: ThreadSanitizer ends a process that starts one behind a fork().
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

// A stop in the child runs its copy of what a runner does at a stop.
TEST_F(Forks, AStopInTheChildEndsWithoutTheRunnersThreads) {
  const FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  QueueRunner(queue, {[&](const std::stop_token& stop) { return queue.enqueue(number(1), {.stop = stop}); }})
      .start(coordinator);
  until_waiting(queue, 1, 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    (void)coordinator.request_stop(Error(ErrorKind::DataLoss, "child"));
    const bool had = bool(queue.dequeue());
    const auto ended = queue.dequeue();
    _exit(had && has_ended(ended) && ended.error().cause() != nullptr ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  (void)coordinator.request_stop();
  EXPECT_TRUE(coordinator.join());
}

}  // namespace
}  // namespace headpond::internal
