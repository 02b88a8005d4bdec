// SPDX-License-Identifier: Apache-2.0
// A stop that meets the end of the last producer: whoever comes first, cancel_op runs once, and before join() returns.
// HEADPOND_STOP_ROUNDS sets the number of rounds of the random program, HEADPOND_STOP_SEED what they draw.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <optional>

#include "headpond/base/log.h"
#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/queue_runner.h"

namespace headpond::internal {
namespace {

using std::chrono::microseconds;

class QuietLog {
 public:
  QuietLog() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~QuietLog() { set_log_sink({}); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

Result<void> end() { return fail(ErrorKind::OutOfRange, "end"); }
Result<void> ok() { return {}; }
Result<void> counted(std::atomic<int>& calls) {
  ++calls;
  return {};
}
Result<void> until_stop(const std::stop_token&) { return {}; }

class RunnerStop : public QueueTest {
  QuietLog quiet_;
};

// How often cancel_op had run, and when.
struct Cancels {
  int at_join = 0;
  int at_end = 0;
  bool operator==(const Cancels&) const = default;
};

// Raises the flag of a stop and holds its callbacks back until the producers are gone. A standard library calls the
// callbacks in the order of their registration or in the reverse order: one that waits is before the runner's, and one
// after it. `start` starts threads that end by the stop, and a callback of the stop; what it returns is kept until the
// stop is over.
using CancelOp = std::function<Result<void>()>;
using Start = std::function<std::shared_ptr<void>(Coordinator&, CancelOp)>;
Cancels stop_whose_callbacks_come_late(const Start& start) {
  std::atomic<int> cancels = 0;
  Cancels seen;
  std::latch gone(1);
  Coordinator coordinator;
  const auto wait = [&gone] { gone.wait(); };
  const std::stop_callback earlier(coordinator.stop_token(), wait);
  const auto kept = start(coordinator, [&cancels]() -> Result<void> {
    ++cancels;
    return {};
  });
  const std::stop_callback later_one(coordinator.stop_token(), wait);
  auto stopping = later([&coordinator] { return coordinator.request_stop(); });
  EXPECT_TRUE(coordinator.join());
  seen.at_join = cancels;
  gone.count_down();
  EXPECT_TRUE(stopping.get());
  seen.at_end = cancels;
  return seen;
}

std::shared_ptr<void> start_runner(Coordinator& coordinator, CancelOp cancel_op) {
  QueueRunner(FIFOQueue(scalars(1)), {until_stop, until_stop}, {.cancel_op = std::move(cancel_op)}).start(coordinator);
  return nullptr;
}

// A runner that leaves cancel_op to the callback alone, which goes with the last thread.
std::shared_ptr<void> start_callback_alone(Coordinator& coordinator, CancelOp cancel_op) {
  using Callback = std::stop_callback<std::function<void()>>;
  auto callback = std::make_shared<Callback>(coordinator.stop_token(), [op = std::move(cancel_op)] { (void)op(); });
  for (int i = 0; i < 2; ++i) {
    coordinator.start("producer", [callback](const std::stop_token& stop) mutable -> Result<void> {
      while (!stop.stop_requested()) std::this_thread::yield();
      callback.reset();
      return {};
    });
  }
  return nullptr;
}

// A runner whose last thread runs cancel_op, whether the callback did or not.
std::shared_ptr<void> start_without_a_flag(Coordinator& coordinator, CancelOp cancel_op) {
  auto live = std::make_shared<std::atomic<int>>(2);
  using Callback = std::stop_callback<std::function<void()>>;
  auto callback = std::make_shared<Callback>(coordinator.stop_token(), [cancel_op] { (void)cancel_op(); });
  for (int i = 0; i < 2; ++i) {
    coordinator.start("producer", [live, cancel_op](const std::stop_token& stop) -> Result<void> {
      while (!stop.stop_requested()) std::this_thread::yield();
      if (--*live == 0) (void)cancel_op();
      return {};
    });
  }
  return callback;
}

TEST_F(RunnerStop, TheLastProducerRunsCancelOpIfTheCallbackDidNot) {
  EXPECT_EQ(stop_whose_callbacks_come_late(start_runner), (Cancels{1, 1}));
}

TEST_F(RunnerStop, ACallbackAloneIsFoundOut) {
  EXPECT_EQ(stop_whose_callbacks_come_late(start_callback_alone), (Cancels{0, 0}));
}

TEST_F(RunnerStop, TwoRunsOfCancelOpAreFoundOut) {
  EXPECT_EQ(stop_whose_callbacks_come_late(start_without_a_flag), (Cancels{1, 2}));
}

TEST_F(RunnerStop, AConsumerIsToldOfTheEndWhenTheCallbackComesLate) {
  const FIFOQueue queue(scalars(1));
  auto waiting = later([&] { return queue.dequeue(); });
  until_waiting(queue, 0, 1);
  const auto start = [&queue](Coordinator& coordinator, const CancelOp&) {
    QueueRunner(queue, {until_stop, until_stop}).start(coordinator);
    return nullptr;
  };
  stop_whose_callbacks_come_late(start);
  EXPECT_FAILS(ErrorKind::OutOfRange, waiting.get());
}

TEST_F(RunnerStop, JoinWaitsForACancelOpThatRuns) {
  const FIFOQueue queue(scalars(1));
  std::latch entered(1);
  std::latch go(1);
  std::atomic<int> cancels = 0;
  Coordinator coordinator;
  QueueRunner(queue, {until_stop}, {.cancel_op = [&]() -> Result<void> {
                entered.count_down();
                go.wait();
                ++cancels;
                return {};
              }})
      .start(coordinator);
  auto stopping = later([&] { return coordinator.request_stop(); });
  entered.wait();
  auto joined = later([&] { return coordinator.join(); });
  EXPECT_FALSE(is_done(joined));
  go.count_down();
  EXPECT_TRUE(joined.get());
  EXPECT_EQ(cancels, 1);
  EXPECT_TRUE(stopping.get());
  EXPECT_EQ(cancels, 1);
}

// The flag goes up before the token's: by then a stop has been recorded, with its error.
TEST_F(RunnerStop, AProducerThatSeesTheCoordinatorsFlagFirstEndsAsAStopDoes) {
  const FIFOQueue queue(scalars(1));
  std::latch gone(1);
  std::atomic<bool> in_log = false;
  std::atomic<int> cancels = 0;
  set_log_sink([&](LogLevel, std::string_view) {
    in_log = true;
    gone.wait();
  });
  Coordinator coordinator;
  QueueRunner(queue, {[&](const std::stop_token& stop) -> Result<void> {
                if (!coordinator.should_stop()) return {};
                EXPECT_FALSE(stop.stop_requested());
                return fail(ErrorKind::Cancelled, "a stop was requested");
              }},
              {.cancel_op =
                   [&cancels, queue] {
                     ++cancels;
                     return queue.close(true);
                   }})
      .start(coordinator);
  auto stopping = later([&] { return coordinator.request_stop(Error(ErrorKind::NotFound, "the other input")); });
  EXPECT_FAILS(ErrorKind::NotFound, coordinator.join());
  EXPECT_EQ(cancels, 1);
  eventually([&] { return in_log.load(); });  // Only then is it certain that the stop is recorded and goes no further.
  gone.count_down();
  EXPECT_TRUE(stopping.get());
  EXPECT_EQ(cancels, 1);
  const auto ended = queue.dequeue();
  ASSERT_FALSE(ended);
  ASSERT_NE(ended.error().cause(), nullptr);
  EXPECT_EQ(ended.error().cause()->kind(), ErrorKind::NotFound);
}

TEST_F(RunnerStop, AProducerThatWaitedForTheStopIsNotCalledAgainBeforeItsTokenKnows) {
  const FIFOQueue queue(scalars(1));
  std::latch gone(1);
  std::atomic<int> calls = 0, cancels = 0;
  set_log_sink([&](LogLevel, std::string_view) { gone.wait(); });
  Coordinator coordinator;
  QueueRunner(queue, {[&](const std::stop_token& stop) -> Result<void> {
                if (++calls > 1) return fail(ErrorKind::Cancelled, "once is enough");
                EXPECT_TRUE(coordinator.wait_for_stop());
                EXPECT_FALSE(stop.stop_requested());
                return {};
              }},
              {.cancel_op =
                   [&cancels, queue] {
                     ++cancels;
                     return queue.close(true);
                   }})
      .start(coordinator);
  eventually([&] { return calls == 1; });
  auto stopping = later([&] { return coordinator.request_stop(Error(ErrorKind::NotFound, "the other input")); });
  EXPECT_FAILS(ErrorKind::NotFound, coordinator.join());
  gone.count_down();
  EXPECT_TRUE(stopping.get());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cancels, 1);
}

TEST_F(RunnerStop, AStopAfterTheNormalEndCancelsNothing) {
  std::atomic<int> closes = 0;
  std::atomic<int> cancels = 0;
  Coordinator coordinator;
  const auto close_and_stop = [&]() -> Result<void> {
    ++closes;
    return coordinator.request_stop();
  };
  const auto cancel = [&]() -> Result<void> {
    ++cancels;
    return {};
  };
  QueueRunner(FIFOQueue(scalars(1)), {[](const std::stop_token&) { return end(); }},
              {.close_op = close_and_stop, .cancel_op = cancel})
      .start(coordinator);
  EXPECT_TRUE(coordinator.join());
  EXPECT_TRUE(coordinator.should_stop());
  EXPECT_EQ(closes, 1);
  EXPECT_EQ(cancels, 0);
}

TEST_F(RunnerStop, AStartThatFailsRunsCancelOpOnce) {
  for (const bool is_stopped : {false, true}) {
    const FIFOQueue queue(scalars(1));
    int cancels = 0;
    Coordinator coordinator;
    if (is_stopped) {
      ASSERT_TRUE(coordinator.request_stop());
    }
    QueueRunner runner(queue, {until_stop, until_stop}, {.cancel_op = [&cancels]() -> Result<void> {
                         ++cancels;
                         return {};
                       }});
    EXPECT_TRUE(refusal([&] {
      const NoNewThreads none;
      runner.start(coordinator);
    }));
    EXPECT_EQ(cancels, 1);
    EXPECT_TRUE(queue.is_closed());
    EXPECT_EQ(coordinator.join().has_value(), is_stopped);
  }
}

TEST_F(RunnerStop, OnACoordinatorThatWasStoppedBeforeItRunsOnce) {
  std::atomic<int> cancels = 0;
  Coordinator coordinator;
  ASSERT_TRUE(coordinator.request_stop());
  (void)start_runner(coordinator, [&cancels]() -> Result<void> {
    ++cancels;
    return {};
  });
  EXPECT_TRUE(coordinator.join());
  EXPECT_EQ(cancels, 1);
}

TEST_F(RunnerStop, AFailureAfterTheJoinRunsCancelOpAlthoughTheStopIsRefused) {
  for (const bool is_last : {false, true}) {
    const FIFOQueue queue(scalars(1));
    std::atomic<int> closes = 0, cancels = 0;
    Coordinator coordinator;
    ASSERT_TRUE(coordinator.join());
    std::vector<QueueRunner::Producer> producers = {
        [](const std::stop_token&) -> Result<void> { return fail(ErrorKind::DataLoss, "bad record"); }};
    if (!is_last) producers.emplace_back([&](const std::stop_token&) { return queue.is_closed() ? end() : ok(); });
    QueueRunner(
        queue, producers,
        {.close_op = [&closes] { return counted(closes); }, .cancel_op = [&cancels] { return counted(cancels); }})
        .start(coordinator);
    EXPECT_TRUE(coordinator.join()) << "it ended before the failure";
    EXPECT_EQ(closes, 0);
    EXPECT_EQ(cancels, 1);
    EXPECT_TRUE(queue.is_closed());
    const auto ended = queue.dequeue();
    ASSERT_TRUE(!ended && ended.error().cause() != nullptr);
    EXPECT_EQ(ended.error().cause()->kind(), ErrorKind::DataLoss);
  }
}

int64_t given_number(const char* name, int64_t otherwise) {
  const char* const given = std::getenv(name);
  return given == nullptr ? otherwise : std::atoll(given);
}

// Two endless producers, one that fails or ends soon, a consumer until the end, and a stop somewhere in between. An
// enqueue that waits with the stop's token ends before the runner's callback has its turn.
class StopRound {
 public:
  explicit StopRound(int64_t number) : random_(RandomKey{static_cast<uint64_t>(number)}) {}

  void play() {
    const FIFOQueue queue(scalars(1 + static_cast<int64_t>(random_.below(4))));
    Coordinator coordinator;
    QueueRunner(queue, {endless(queue, 0), endless(queue, 1), mortal(queue)},
                {.cancel_op =
                     [this, queue] {
                       ++cancels_;
                       return queue.close(true);
                     }})
        .start(coordinator);
    std::jthread consumer([this, queue] { consume(queue); });
    std::this_thread::sleep_for(microseconds(random_.below(3'000)));
    EXPECT_TRUE(coordinator.request_stop());
    const auto joined = coordinator.join();
    EXPECT_TRUE(joined || joined.error().kind() == ErrorKind::DataLoss) << joined.error();
    EXPECT_EQ(cancels_, 1);
    EXPECT_TRUE(queue.is_closed());
    consumer.join();
    EXPECT_EQ(taken_, put_);
  }

 private:
  static constexpr int64_t kProducers = 3;

  // Producer i puts i, i + 3, i + 6, ...
  Result<void> put(const Queue& queue, size_t producer, const Wait& wait) {
    auto result = queue.enqueue(number(static_cast<int64_t>(producer) + kProducers * put_[producer]), wait);
    if (result) ++put_[producer];
    return result;
  }
  QueueRunner::Producer endless(const Queue& queue, size_t producer) {
    return [this, queue, producer, listens = random_.below(2) == 0](const std::stop_token& stop) {
      return put(queue, producer, {.stop = listens ? stop : std::stop_token()});
    };
  }
  QueueRunner::Producer mortal(const Queue& queue) {
    const bool fails = random_.below(2) == 0;
    return [this, queue, fails, left = random_.below(61)](const std::stop_token&) mutable -> Result<void> {
      if (left == 0) return fails ? fail(ErrorKind::DataLoss, "bad record") : end();
      std::this_thread::sleep_for(microseconds(20));
      return left-- % 8 == 0 ? put(queue, 2, {}) : Result<void>();
    };
  }
  // Each producer's elements come in its order, each once.
  void consume(const Queue& queue) {
    while (const auto element = queue.dequeue()) {
      const int64_t got = value(*element);
      int64_t& count = taken_[static_cast<size_t>(got % kProducers)];
      EXPECT_EQ(got / kProducers, count);
      ++count;
    }
  }

  headpond::Random random_;
  std::atomic<int> cancels_ = 0;
  std::array<int64_t, kProducers> put_{};    // Each written by its producer.
  std::array<int64_t, kProducers> taken_{};  // Written by the consumer.
};

TEST(StopRaces, AStopThatMeetsTheProducersEndClosesTheQueue) {
  const QuietLog quiet;
  const int64_t rounds = given_number("HEADPOND_STOP_ROUNDS", 60), seed = given_number("HEADPOND_STOP_SEED", 0);
  const Watchdog watchdog("stops", std::chrono::seconds(100 + rounds / 20));
  for (int64_t i = 0; i < rounds && !testing::Test::HasFailure(); ++i) StopRound(seed + i).play();
}

}  // namespace
}  // namespace headpond::internal
