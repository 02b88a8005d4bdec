// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/runner/queue_runner.h"

#include <gmock/gmock.h>

#include <atomic>
#include <barrier>

#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

class Runner : public QueueTest {
 protected:
  Runner() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~Runner() override { set_log_sink({}); }

  // Puts 0, 1, ..., count - 1, then ends as `last` says.
  static QueueRunner::Producer counting(Queue queue, int64_t count, Result<void> last) {
    return [queue, count, last = std::move(last), next = int64_t{0}](const std::stop_token&) mutable -> Result<void> {
      if (next == count) return last;
      return queue.enqueue(number(next++));
    };
  }
  static Result<void> end() { return fail(ErrorKind::OutOfRange, "end"); }
  static Result<void> bad() { return fail(ErrorKind::DataLoss, "bad record"); }
  // What the loop over a queue would see: all elements, then the end.
  static std::pair<std::vector<int64_t>, Error> consume(Queue queue) {
    std::vector<int64_t> all;
    while (true) {
      auto element = queue.dequeue();
      if (!element) return {all, element.error()};
      all.push_back(value(*element));
    }
  }
};

TEST_F(Runner, TheLastProducerToEndClosesTheQueueAfterAllElements) {
  FIFOQueue queue(scalars(4));
  Coordinator coordinator;
  QueueRunner(queue, {counting(queue, 50, end()), counting(queue, 70, end())}).start(coordinator);
  const auto [all, error] = consume(queue);
  EXPECT_EQ(all.size(), 120U);
  EXPECT_EQ(error.kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(error.cause(), nullptr);
  EXPECT_TRUE(coordinator.join());
  EXPECT_FALSE(coordinator.should_stop());
}

TEST_F(Runner, ReturningOkNeverEndsAProducer) {
  FIFOQueue queue(scalars(4));
  Coordinator coordinator;
  std::atomic<int> calls = 0;
  QueueRunner(queue, {[&](const std::stop_token&) -> Result<void> { return ++calls < 1000 ? Result<void>() : end(); }})
      .start(coordinator);
  EXPECT_TRUE(coordinator.join());
  EXPECT_EQ(calls, 1000);
  EXPECT_TRUE(queue.is_closed());
}

TEST_F(Runner, AfterAFailedProducerComeAllGoodElementsThenItsErrorAsTheCause) {
  FIFOQueue queue(scalars(-1));
  Coordinator coordinator;
  QueueRunner(queue, {counting(queue, 20, bad())}).start(coordinator);
  EXPECT_FAILS_WITH(ErrorKind::DataLoss, "bad record", coordinator.join());
  const auto [all, error] = consume(queue);
  EXPECT_EQ(all, range(0, 20));
  EXPECT_EQ(error.kind(), ErrorKind::OutOfRange);
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->message(), "bad record");
}

TEST_F(Runner, WhatAProducerThrowsIsKeptAsItIs) {
  FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  QueueRunner(queue, {[](const std::stop_token&) -> Result<void> { throw std::runtime_error("my own"); }})
      .start(coordinator);
  const auto [all, error] = consume(queue);
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->kind(), ErrorKind::Unknown);
  EXPECT_EQ(error.cause()->message(), "my own");
  EXPECT_FAILS_WITH(ErrorKind::Unknown, "my own", coordinator.join());
}

TEST_F(Runner, AFailingProducerThatIsTheLastOneAliveClosesTheQueueToo) {
  FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  std::atomic<bool> first_ended = false;
  QueueRunner(queue, {[&](const std::stop_token&) -> Result<void> {
                        first_ended = true;
                        return end();
                      },
                      [&](const std::stop_token&) -> Result<void> { return first_ended ? bad() : Result<void>(); }})
      .start(coordinator);
  const auto [all, error] = consume(queue);
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_FAILS(ErrorKind::DataLoss, coordinator.join());
}

TEST_F(Runner, EnqueuesThatWaitWhenAnotherProducerFailsEndCancelledAndAreNotRecorded) {
  FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  Result<void> waiting_ended;
  QueueRunner(queue,
              {[&](const std::stop_token&) {
                 auto result = queue.enqueue(number(1));
                 if (!result) waiting_ended = result;
                 return result;
               },
               [&](const std::stop_token&) { return queue.stats().waiting_enqueues > 0 ? bad() : Result<void>(); }})
      .start(coordinator);
  EXPECT_FAILS_WITH(ErrorKind::DataLoss, "bad record", coordinator.join());
  EXPECT_FAILS(ErrorKind::Cancelled, waiting_ended);
}

TEST_F(Runner, AConsumerThatClosesTheQueueEndsItsProducersNormally) {
  for (int round = 0; round < 100; ++round) {
    FIFOQueue queue(scalars(2));
    Coordinator coordinator;
    QueueRunner(queue, {counting(queue, INT64_MAX, end()), counting(queue, INT64_MAX, end())}).start(coordinator);
    ASSERT_TRUE(queue.dequeue());
    ASSERT_TRUE(queue.close(true));
    ASSERT_TRUE(coordinator.join());
    ASSERT_FALSE(coordinator.should_stop());
  }
}

TEST_F(Runner, APlainStopCancelsWaitingEnqueuesAndLeavesNoCause) {
  FIFOQueue queue(scalars(2));
  Coordinator coordinator;
  QueueRunner(queue, {counting(queue, INT64_MAX, end()), counting(queue, INT64_MAX, end())}).start(coordinator);
  until_waiting(queue, 2, 0);
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
  const auto [all, error] = consume(queue);
  EXPECT_EQ(all.size(), 2U);
  EXPECT_EQ(error.cause(), nullptr);
}

TEST_F(Runner, AnErrorAfterACleanStopIsDroppedEverywhere) {
  FIFOQueue queue(scalars(2));
  std::atomic<bool> inside = false;
  Coordinator coordinator;
  QueueRunner(queue, {[&](const std::stop_token& stop) -> Result<void> {
                inside = true;
                while (!stop.stop_requested()) std::this_thread::yield();
                return bad();
              }})
      .start(coordinator);
  eventually([&] { return inside.load(); });
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
  const auto [all, error] = consume(queue);
  EXPECT_EQ(error.cause(), nullptr);
}

TEST_F(Runner, AStopWithAnErrorIsTheCauseOfTheEndThatItBringsAbout) {
  FIFOQueue queue(scalars(2));
  Coordinator coordinator;
  QueueRunner(queue, {counting(queue, INT64_MAX, end())}).start(coordinator);
  until_waiting(queue, 1, 0);
  ASSERT_TRUE(coordinator.request_stop({ErrorKind::NotFound, "the other input is gone"}));
  const auto [all, error] = consume(queue);
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->message(), "the other input is gone");
  EXPECT_FAILS(ErrorKind::NotFound, coordinator.join());
}

TEST_F(Runner, AFailureTravelsThroughAChainOfQueues) {
  FIFOQueue raw(scalars(2));
  FIFOQueue ready(scalars(2));
  Coordinator first;
  Coordinator second;
  QueueRunner(raw, {counting(raw, 5, bad())}).start(first);
  QueueRunner(ready, {[raw, ready](const std::stop_token& stop) mutable -> Result<void> {
                auto element = raw.dequeue({.stop = stop});
                if (!element) return fail(element.error());
                return ready.enqueue(std::move(*element));
              }})
      .start(second);
  const auto [all, error] = consume(ready);
  EXPECT_LE(all.size(), 5U);
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_EQ(error.cause()->message(), "bad record");
  EXPECT_FAILS(ErrorKind::DataLoss, first.join());
  EXPECT_TRUE(second.join());
}

TEST_F(Runner, OtherKindsMayBeANormalEndAndThenOutOfRangeIsNot) {
  FIFOQueue queue(scalars(2));
  Coordinator coordinator({.clean_stop_kinds = {}});
  QueueRunner(queue, {counting(queue, 1, bad())}, {.queue_closed_kinds = {ErrorKind::DataLoss}}).start(coordinator);
  EXPECT_EQ(consume(queue).second.cause(), nullptr);
  EXPECT_TRUE(coordinator.join());
  FIFOQueue other(scalars(2));
  QueueRunner(other, {counting(other, 1, end())}, {.queue_closed_kinds = {ErrorKind::DataLoss}}).start(coordinator);
  EXPECT_NE(consume(other).second.cause(), nullptr);
}

TEST_F(Runner, ItsOwnCloseAndCancelFunctionsRunAndTheirFailuresAreIgnored) {
  FIFOQueue queue(scalars(2));
  std::atomic<int> closed = 0;
  std::atomic<int> cancelled = 0;
  const QueueRunnerOptions options{.close_op = [&]() -> Result<void> {
                                     ++closed;
                                     throw std::runtime_error("ignored");
                                   },
                                   .cancel_op = [&]() -> Result<void> {
                                     ++cancelled;
                                     return bad();
                                   }};
  Coordinator coordinator;
  QueueRunner(queue, {counting(queue, 1, end()), counting(queue, 1, end())}, options).start(coordinator);
  EXPECT_TRUE(coordinator.join());
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(cancelled, 0);
  QueueRunner(queue, {[](const std::stop_token&) { return Result<void>(); }}, options).start(coordinator);
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(cancelled, 1);
}

TEST_F(Runner, AThreadForEachProducerBearsTheQueuesName) {
  FIFOQueue queue({.capacity = 4, .dtypes = {bytes}, .name = "pond"});
  Coordinator coordinator;
  const auto tell = [queue](const std::stop_token&) mutable -> Result<void> {
    HEADPOND_TRY(queue.enqueue(Element{{Tensor::scalar(this_thread_name())}}));
    return end();
  };
  QueueRunner(queue, {tell, tell}).start(coordinator);
  std::vector<std::string> names;
  for (const Element& element : queue) names.emplace_back(element[0].bytes_at(0));
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("QueueRunnerThread-pond-0", "QueueRunnerThread-pond-1"));
}

TEST_F(Runner, ALaggardIsNamedByTheJoin) {
  FIFOQueue queue({.capacity = 4, .dtypes = {i64}, .name = "pond"});
  std::atomic<bool> go = false;
  std::atomic<bool> inside = false;
  Coordinator coordinator;
  QueueRunner(queue, {[&](const std::stop_token&) -> Result<void> {
                inside = true;
                while (!go) std::this_thread::sleep_for(milliseconds(1));
                return {};
              }})
      .start(coordinator);
  eventually([&] { return inside.load(); });
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_FAILS_WITH(ErrorKind::DeadlineExceeded, "QueueRunnerThread-pond-0",
                    coordinator.join({.stop_grace_period = milliseconds(5)}));
  go = true;
}

TEST_F(Runner, StartDoesNothingWhileItsThreadsRun) {
  FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  std::atomic<int> threads = 0;
  std::atomic<bool> go = false;
  // Each thread ends with its first call.
  QueueRunner runner(queue, {[&](const std::stop_token&) -> Result<void> {
                       ++threads;
                       go.wait(false);
                       return end();
                     }});
  runner.start(coordinator);
  runner.start(coordinator);
  go = true;
  go.notify_all();
  EXPECT_TRUE(coordinator.join());
  EXPECT_EQ(threads, 1);
}

TEST_F(Runner, AfterItsThreadsEndedItCanStartAgain) {
  FIFOQueue queue(scalars(8));
  Coordinator coordinator;
  const auto nothing = [] { return Result<void>(); };
  QueueRunner runner(queue, {[queue](const std::stop_token&) mutable -> Result<void> {
                       HEADPOND_TRY(queue.enqueue(number(1)));
                       return end();
                     }},
                     {.close_op = nothing});
  for (int i = 0; i < 3; ++i) {
    runner.start(coordinator);
    ASSERT_TRUE(coordinator.join());
    coordinator.clear_stop();
  }
  EXPECT_EQ(queue.size(), 3);
}

TEST_F(Runner, ProducersHaveTheStopTokenOfTheirStartAlthoughTheCoordinatorBeforeWasNotJoined) {
  FIFOQueue queue(scalars(8));
  Coordinator first, second;
  std::atomic<int> of_first = 0, of_second = 0;
  const auto count = [&](const std::stop_token& stop) {
    of_first += stop == first.stop_token() ? 1 : 0;
    of_second += stop == second.stop_token() ? 1 : 0;
  };
  QueueRunner runner(queue, {[&](const std::stop_token& stop) -> Result<void> {
                               count(stop);
                               return end();
                             },
                             [&](const std::stop_token& stop) -> Result<void> {
                               count(stop);
                               while (!stop.stop_requested()) std::this_thread::yield();
                               return {};
                             }});
  EXPECT_TRUE(runner.start(first));
  while (of_first < 2) std::this_thread::yield();
  EXPECT_FALSE(runner.start(second)) << "threads run";
  ASSERT_TRUE(first.request_stop());
  while (!runner.start(second)) std::this_thread::yield();  // When they have ended; nobody has joined them.
  while (of_second < 2) std::this_thread::yield();
  ASSERT_TRUE(second.request_stop());
  EXPECT_TRUE(second.join());
  EXPECT_EQ(of_first, 2);
  EXPECT_EQ(of_second, 2);
}

TEST_F(Runner, ItIsIdleWhenItsThreadsHaveBeenJoined) {
  Queue queue = FIFOQueue({.capacity = 1, .dtypes = {DType::i64}});
  QueueRunner runner(queue, {[](const std::stop_token&) -> Result<void> { return fail(ErrorKind::OutOfRange, ""); }});
  EXPECT_TRUE(runner.is_idle());
  Coordinator coordinator;
  EXPECT_TRUE(runner.start(coordinator));
  EXPECT_TRUE(coordinator.join());
  EXPECT_TRUE(runner.is_idle());
  QueueRunner waits(queue, {[](const std::stop_token& stop) -> Result<void> {
                      while (!stop.stop_requested()) std::this_thread::yield();
                      return {};
                    }});
  Coordinator other;
  EXPECT_TRUE(waits.start(other));
  EXPECT_FALSE(waits.is_idle());
  EXPECT_TRUE(other.request_stop());
  EXPECT_TRUE(other.join());
  EXPECT_TRUE(waits.is_idle());
}

TEST_F(Runner, StartOnAStoppedCoordinatorCancelsTheQueue) {
  FIFOQueue queue(scalars(1));
  Coordinator coordinator;
  ASSERT_TRUE(coordinator.request_stop());
  QueueRunner(queue, {counting(queue, 9, end())}).start(coordinator);
  EXPECT_EQ(consume(queue).second.cause(), nullptr);
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Runner, TheRunnerAndTheHandleMayGoBeforeTheThreads) {
  Coordinator coordinator;
  {
    FIFOQueue queue(scalars(1));
    QueueRunner(queue, {counting(queue, INT64_MAX, end())}).start(coordinator);
  }
  ASSERT_TRUE(coordinator.request_stop());
  EXPECT_TRUE(coordinator.join());
}

TEST_F(Runner, AConsumerThatLeavesEarlyOnlyDestroysTheCoordinator) {
  for (int round = 0; round < 50; ++round) {
    FIFOQueue queue(scalars(2));
    Coordinator coordinator;
    QueueRunner(queue, {counting(queue, INT64_MAX, end()), counting(queue, INT64_MAX, end())}).start(coordinator);
    ASSERT_TRUE(queue.dequeue());
  }
}

TEST_F(Runner, ConsumersThatWaitWhenAllProducersFailGetTheCause) {
  for (int round = 0; round < 50; ++round) {
    FIFOQueue queue(scalars(2));
    Coordinator coordinator;
    std::vector<std::future<Result<Element>>> consumers;
    for (int i = 0; i < 3; ++i) consumers.push_back(later([&] { return queue.dequeue(); }));
    QueueRunner(queue, {counting(queue, 0, bad()), counting(queue, 0, bad())}).start(coordinator);
    for (auto& each : consumers) {
      const auto result = each.get();
      ASSERT_FALSE(result);
      ASSERT_EQ(result.error().kind(), ErrorKind::OutOfRange);
      ASSERT_NE(result.error().cause(), nullptr);
    }
    ASSERT_FALSE(coordinator.join());
  }
}

TEST_F(Runner, OfTwoThatFailAtOnceJoinAndTheConsumerTellTheSame) {
  for (int i = 0; i < 300; ++i) {
    FIFOQueue queue(scalars(1));
    Coordinator coordinator;
    std::barrier both(2);
    const auto failing = [&both](const char* text) {
      return [&both, text](const std::stop_token&) -> Result<void> {
        both.arrive_and_wait();
        return fail(ErrorKind::DataLoss, text);
      };
    };
    QueueRunner(queue, {failing("first"), failing("second")}).start(coordinator);
    const auto joined = coordinator.join();
    ASSERT_FALSE(joined);
    const auto [all, error] = consume(queue);
    ASSERT_NE(error.cause(), nullptr);
    ASSERT_EQ(error.cause()->message(), joined.error().message());
  }
}

TEST_F(Runner, AStartThatFailsClosesTheQueueWithItsErrorAsTheCause) {
  QueueOptions options = scalars(1);
  options.watchdog = {};
  const FIFOQueue queue(options);
  Coordinator coordinator;
  auto waiting = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  // A cancel_op that leaves the queue open.
  QueueRunner runner(queue, {counting(queue, 1, end())}, {.cancel_op = [] { return Result<void>(); }});
  const Error error = refusal([&] {
    const NoNewThreads none;
    runner.start(coordinator);
  });
  ASSERT_EQ(error.kind(), ErrorKind::ResourceExhausted);
  const auto ended = waiting.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind(), ErrorKind::OutOfRange);
  ASSERT_NE(ended.error().cause(), nullptr);
  EXPECT_EQ(ended.error().cause()->kind(), ErrorKind::ResourceExhausted);
  EXPECT_FAILS(ErrorKind::ResourceExhausted, coordinator.join());
}

TEST_F(Runner, ABareJoinAfterTheNormalEndOfDataReturns) {
  FIFOQueue queue(scalars(-1));
  Coordinator coordinator;
  QueueRunner(queue, {counting(queue, 10, end()), counting(queue, 10, end())}).start(coordinator);
  EXPECT_TRUE(coordinator.join());
  EXPECT_FALSE(coordinator.should_stop());
  EXPECT_EQ(consume(queue).first.size(), 20U);
}

TEST_F(Runner, RefusesWhatCannotRun) {
  FIFOQueue queue(scalars(1));
  EXPECT_THROW(QueueRunner(queue, {}), Exception);
  EXPECT_THROW(QueueRunner(queue, {QueueRunner::Producer()}), Exception);
  EXPECT_THROW(QueueRunner(queue, {counting(queue, 1, end())}, {.queue_closed_kinds = {}}), Exception);
}

}  // namespace
}  // namespace headpond::internal
