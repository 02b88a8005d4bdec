// SPDX-License-Identifier: Apache-2.0
// What a program can do but wait: close a Loader, ask for a batch without waiting, interrupt the wait.
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/engine/testing/loader_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

TEST(LoaderClose, EndsTheThreadsAndKeepsTheState) {
  const Dataset dataset = range(100) | shuffle() | batch(4);
  Loader loader(dataset, {.epochs = 2, .seed = 3, .threads = 2});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next());
  const std::string state = loader.state();
  loader.close();
  loader.close();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(loader.next().error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(loader.state(), state);
  EXPECT_EQ(loader.stats().batches, 3);
  auto restored = Loader::restored(dataset, {.epochs = 2, .seed = 3}, state);
  ASSERT_TRUE(restored) << restored.error();
  std::vector<std::string> expected = sequential(dataset, {.seed = 3, .epochs = 2});
  expected.erase(expected.begin(), expected.begin() + 3);
  EXPECT_EQ(rest(*restored), expected);
}

TEST(LoaderClose, GivesBackWhatTheProgramDoesNotHold) {
  Loader loader(range(1'000'000) | batch(10'000), {.threads = 2});
  const auto held = loader.next();
  ASSERT_TRUE(held);
  loader.close();
  EXPECT_EQ((*held)[0].as<int64_t>()[9999], 9999);
  EXPECT_LT(loader.stats().memory_in_use, 200'000);
}

template <class Call>
std::string thrown_by(const Call& call) {
  try {
    call();
    return "nothing";
  } catch (const Exception& error) {
    return error.error().message();
  }
}

TEST(LoaderClose, IsRefusedBesideNext) {
  std::atomic<bool> is_in = false, let_go = false;
  const auto wait = [&](int64_t x) {
    if (x == 3) is_in = true;
    while (x == 3 && !let_go) std::this_thread::yield();
    return x;
  };
  const Dataset dataset = range(6) | map(wait, {.name = "wait"});
  const std::string begin = Loader(dataset).state();
  Loader loader(dataset, {.threads = 0});
  std::vector<std::string> given;
  std::thread program([&] { given = rest(loader); });
  while (!is_in) std::this_thread::yield();
  EXPECT_THAT(thrown_by([&] { loader.close(); }), testing::HasSubstr("Loader: close(): next() is in progress"));
  EXPECT_THAT(thrown_by([&] { loader.rewind(); }), testing::HasSubstr("rewind()"));
  EXPECT_THAT(thrown_by([&] { loader.next_epoch(); }), testing::HasSubstr("next_epoch()"));
  EXPECT_EQ(loader.restore(begin).error().kind(), ErrorKind::FailedPrecondition);
  let_go = true;
  program.join();
  EXPECT_EQ(given, (std::vector<std::string>{"0/0 0", "0/1 1", "0/2 2", "0/3 3", "0/4 4", "0/5 5"}));
  loader.close();

  Loader* own = nullptr;  // Nor may a function of the dataset close its Loader.
  Loader closing(range(2) | map(
                                [&](int64_t x) {
                                  own->close();
                                  return x;
                                },
                                {.name = "closes"}),
                 {.threads = 0});
  own = &closing;
  EXPECT_THAT(closing.next().error().message(), testing::HasSubstr("next() is in progress"));
}

// A source whose element `at` waits until it is let go.
struct Held {
  std::atomic<bool> let_go = false;
  Dataset dataset = from_generator(
      [this](uint64_t) {
        return Generator([this, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
          while (i == 1 && !let_go) std::this_thread::yield();
          if (i == 3) return std::nullopt;
          return Element(Tensor::scalar(i++));
        });
      },
      {{"", DType::i64, {}}}, {.name = "held", .blocking = true});
};

TEST(LoaderTryNext, GivesWhatIsReadyAndElseSaysThatNothingIs) {
  Held held;
  Loader loader(held.dataset, {.threads = 1});
  Result<Batch> first = loader.try_next();
  while (!first && first.error().kind() == ErrorKind::DeadlineExceeded) first = loader.try_next();
  ASSERT_TRUE(first) << first.error();
  const std::string state = loader.state();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(loader.try_next().error().kind(), ErrorKind::DeadlineExceeded);
  EXPECT_EQ(loader.state(), state);
  held.let_go = true;
  EXPECT_EQ(rest(loader), (std::vector<std::string>{"0/1 1", "0/2 2"}));
  EXPECT_TRUE(loader.try_next().error().is_end());
}

// Threads that have just been started are late: what they would do waits for them, however cheap it looks.
TEST(LoaderTryNext, LeavesToThreadsWhatMayTakeLong) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> made_here = 0;
    const auto count = [&, here = std::this_thread::get_id()](int64_t x) {
      if (std::this_thread::get_id() == here) ++made_here;
      return x;
    };
    Loader loader(range(3) | map(count, {.name = "count"}), {.threads = 2});
    for (int taken = 0; taken < 3;) taken += loader.try_next().has_value() ? 1 : 0;
    EXPECT_EQ(made_here, 0);
    Loader control(range(3) | map(count, {.name = "count"}), {.threads = 0});
    EXPECT_TRUE(control.try_next()) << "without threads there is nobody else";
    EXPECT_EQ(made_here, 1);
  }
}

TEST(LoaderTryNext, MakesCheapBatchesItself) {
  std::atomic<int> made_here = 0;
  const auto count = [&, here = std::this_thread::get_id()](int64_t x) {
    if (std::this_thread::get_id() == here) ++made_here;
    return x;
  };
  Loader loader(range(100) | map(count, {.name = "count"}), {.epochs = -1, .threads = 2});
  EXPECT_TRUE(becomes_true([&] {
    (void)loader.try_next();
    return made_here > 0;
  }));
}

TEST(LoaderTryNext, AnElementThatTimedOutIsNotTakenForNothing) {
  const auto late = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DeadlineExceeded, "the server is silent");
    return x;
  };
  Loader loader(range(3) | map(late), {.threads = 0, .io_threads = 0});
  EXPECT_TRUE(loader.try_next());
  const Error error = loader.try_next().error();
  EXPECT_EQ(error.kind(), ErrorKind::DeadlineExceeded);
  ASSERT_NE(error.cause(), nullptr);
  EXPECT_NE(error.to_string().find("the server is silent"), std::string::npos);
  EXPECT_TRUE(loader.try_next()) << "it comes once";
}

TEST(LoaderAtOnce, GivesWhatIsReadyAndTheEndOfEachEpoch) {
  Held held;
  Loader loader(held.dataset, {.epochs = 2, .threads = 1});
  const auto next = [&] {
    std::optional<Result<Batch>> batch = loader.next_at_once();
    while (!batch) batch = loader.next_at_once();
    return *std::move(batch);
  };
  EXPECT_TRUE(next());
  const std::string state = loader.state();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(loader.next_at_once());
  EXPECT_EQ(loader.state(), state);
  held.let_go = true;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(next());
  EXPECT_TRUE(next().error().is_end());
  EXPECT_EQ(rest(loader), (std::vector<std::string>{"1/0 0", "1/1 1", "1/2 2"}));
  EXPECT_TRUE(next().error().is_end());
  Loader alone(range(3), {.threads = 0});
  EXPECT_FALSE(alone.next_at_once());
}

// An operator that only next() itself runs may take long, and so may a file that it writes.
TEST(LoaderAtOnce, GivesNothingWhereTheCallWouldWork) {
  const test::TempFolder folder;
  const Dataset numbers = range(8) | batch(2);
  const std::vector<std::pair<Dataset, std::string>> all = {
      {numbers | as_stream() | skip(1), ""}, {numbers, folder.file("bad")}, {numbers, ""}};
  for (const auto& [dataset, quarantine] : all) {
    Loader loader(dataset, {.threads = 2, .quarantine = quarantine});
    ASSERT_TRUE(loader.next());
    const bool is_control = dataset.plan() == numbers.plan() && quarantine.empty();
    const bool gives = becomes_true([&] { return loader.next_at_once().has_value(); }, is_control ? 30'000 : 50);
    EXPECT_EQ(gives, is_control) << dataset.plan() << quarantine;
    EXPECT_TRUE(loader.next());
  }
}

TEST(LoaderAtOnce, TellsErrorsAsNextDoes) {
  const auto late = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DeadlineExceeded, "the server is silent");
    return x;
  };
  const Dataset dataset = range(3) | map(late, {.name = "late"});
  Loader loader(dataset, {.threads = 1}), other(dataset, {.threads = 1});
  std::optional<Result<Batch>> batch;
  while (!batch || *batch) batch = loader.next_at_once();
  ASSERT_TRUE(other.next());
  const std::string told = other.next().error().to_string();
  EXPECT_EQ(batch->error().to_string(), told);
  EXPECT_NE(told.find("the server is silent"), std::string::npos);
}

// A call that waits after one that found nothing may stand still.
TEST(LoaderAtOnce, AWaitThatFollowsIsOneCall) {
  Held held;
  Loader loader(held.dataset, {.threads = 1});
  ASSERT_TRUE(loader.next());
  EXPECT_FALSE(loader.next_at_once());
  held.let_go = true;
  ASSERT_TRUE(loader.next());
  ASSERT_TRUE(loader.next());
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.batches, 3);
  EXPECT_EQ(stats.steps.steps, 2);
}

TEST(LoaderPosition, IsThatOfItsMomentWheneverItIsWrittenDown) {
  const Dataset dataset = range(100) | shuffle() | batch(10);
  Loader loader(dataset, {.epochs = 2, .seed = 4, .threads = 1});
  std::vector<Loader::Position> positions;
  std::vector<std::string> states;
  do {
    positions.push_back(loader.position());
    states.push_back(loader.state());
  } while (loader.next());
  ASSERT_EQ(states.size(), 21U);
  for (size_t i = 0; i < states.size(); ++i) EXPECT_EQ(loader.state(positions[i]), states[i]) << i;
  EXPECT_NE(states[3], states[4]) << "control";
  EXPECT_THROW((void)loader.state(Loader::Position()), Exception);
}

TEST(LoaderPosition, OfAnotherLoaderIsRefused) {
  const Dataset dataset = range(100) | batch(10);
  Loader loader(dataset), same(dataset);
  ASSERT_TRUE(loader.next());
  ASSERT_TRUE(same.next());
  try {
    (void)loader.state(same.position());
    ADD_FAILURE() << "it was taken";
  } catch (const Exception& refused) {
    EXPECT_EQ(refused.error().kind(), ErrorKind::FailedPrecondition);
  }
  const Loader::Position own = loader.position();
  const std::string state = loader.state();
  const Loader moved = std::move(loader);
  EXPECT_EQ(moved.state(own), state) << "control: its own, also after a move";
}

// Polls without a batch are no cheap batches: the threads must go on.
TEST(LoaderTryNext, GetsABatchThatThreadsCompute) {
  for (const int threads : {1, 2}) {
    Loader loader(range(96) | map([](int64_t x) {
                    busy_us(1000);
                    return x;
                  }) | batch(16),
                  {.threads = threads});
    int batches = 0;
    ASSERT_TRUE(becomes_true([&] {
      for (int polls = 0; polls < 100; ++polls) {
        const auto batch = loader.try_next();
        batches += batch ? 1 : 0;
        if (at_end(batch)) return true;
      }
      return false;
    })) << batches
        << " batches with " << threads << " threads";
    EXPECT_EQ(batches, 6);
  }
}

TEST(LoaderTryNext, IsOneCallFromTheFirstPollOn) {
  std::atomic<int64_t> asked = 0;  // Batch x is made only after a poll for it has found nothing.
  const Dataset slow = range(3) | map([&asked](int64_t x) {
                         becomes_true([&] { return asked > x; });
                         pause_ms(x == 0 ? 0 : 30);
                         return x;
                       });
  Loader loader(slow, {.threads = 1, .run_ahead = 1}), other(slow, {.threads = 1, .run_ahead = 1});
  int64_t taken = 0;
  for (auto batch = loader.try_next(); !at_end(batch); batch = loader.try_next()) {
    if (batch) {
      ++taken;
    } else {
      asked = taken + 1;
    }
    pause_ms(1);
  }
  while (!at_end(other.next())) pause_ms(1);
  const StepStats polled = loader.stats().steps, waited = other.stats().steps;
  EXPECT_EQ(polled.steps, 3);
  EXPECT_GE(polled.call_ns, 50e6) << "two waits";
  EXPECT_EQ(waited.steps, polled.steps) << "control";
}

TEST(LoaderTryNext, MakesTheBatchIfTheLoaderHasNoThreads) {
  Loader loader(range(4) | batch(2), {.threads = 0, .io_threads = 0});
  EXPECT_TRUE(loader.try_next());
  EXPECT_TRUE(loader.try_next());
  EXPECT_TRUE(loader.try_next().error().is_end());
}

TEST(LoaderInterrupt, EndsTheWaitAndLosesNothing) {
  Held held;
  Loader loader(held.dataset, {.threads = 1});
  ASSERT_TRUE(loader.next());
  const std::string state = loader.state();
  {
    const InterruptLook look([] { return true; });
    EXPECT_EQ(loader.next().error().kind(), ErrorKind::Cancelled);
  }
  EXPECT_EQ(loader.state(), state);
  held.let_go = true;
  EXPECT_EQ(rest(loader), (std::vector<std::string>{"0/1 1", "0/2 2"}));
}

}  // namespace
}  // namespace headpond::internal
