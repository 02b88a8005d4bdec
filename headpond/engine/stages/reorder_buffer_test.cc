// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/random.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/stages/reorder_buffer_test_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

Step sleeps(int64_t ms, bool blocking = true) {
  return map(
      [ms](int64_t x) {
        pause_ms(ms);
        return x;
      },
      {.name = "sleeps", .blocking = blocking});
}

void take_batches(Loader& loader, int count, int64_t step_ms) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(loader.next());
    pause_ms(step_ms);
  }
}
StageStats top(const Loader& loader) { return loader.stats().stages.at(0); }

TEST(ReorderBuffer, IsAsManyAheadAsAreTakenWhileOneIsMade) {
  Loader loader(range(1 << 30) | sleeps(60), {.threads = 2});
  for (int round = 0; round < 5; ++round) {
    take_batches(loader, 10, 1);
    EXPECT_TRUE(becomes_true([&] {  // Again, after a step that took long.
      take_batches(loader, 1, 1);
      const StageStats stage = top(loader);
      EXPECT_LE(static_cast<double>(stage.target), 3 + 1 + stage.unit_ns / 0.9e6)
          << "a step takes a millisecond at least";
      return stage.target > 3 + 4;
    })) << "60 ms to make one, a few between two takes";
  }
  Loader easy(range(100'000) | sleeps(0), {.threads = 2});
  take_batches(easy, 10, 20);
  EXPECT_LE(static_cast<double>(top(easy).target), 3 + 1 + top(easy).unit_ns / 18e6)
      << "control: what is made in no time needs few";
}

TEST(ReorderBuffer, IsAsDeepInTheSecondEpochAsInTheFirst) {
  constexpr int kCount = 1000;
  Loader loader(range(kCount) | sleeps(200), {.epochs = 2, .threads = 2});
  // After how many elements more; kCount: after none.
  const auto gets_deep = [&] {
    for (int taken = 1; taken < kCount; ++taken) {
      take_batches(loader, 1, 1);
      if (top(loader).target > 3 + 10) return taken;
    }
    return kCount;
  };
  const int first = gets_deep();
  EXPECT_LT(first, kCount);
  take_batches(loader, kCount - first, 1);
  EXPECT_LT(gets_deep(), 30) << "200 ms to make one, a few between two takes";
}

TEST(ReorderBuffer, IsNeverDeeperThanItsCeiling) {
  for (const int64_t ceiling : {1, 5}) {
    Loader loader(range(100'000) | sleeps(10), {.threads = 2, .run_ahead = ceiling});
    for (int i = 0; i < 20; ++i) {
      take_batches(loader, 1, 0);
      EXPECT_LE(top(loader).target, ceiling);
      EXPECT_LE(top(loader).ahead, ceiling);
    }
  }
}

TEST(ReorderBuffer, OpensNoMoreThanThreadsThatWaitCanBegin) {
  Loader loader(range(1 << 30) | sleeps(1, false) | batch(4), {.threads = 2, .io_threads = 4});
  int64_t most = 0;
  for (int i = 0; i < 600; ++i) {
    take_batches(loader, 1, 0);
    const StageStats stage = top(loader);
    if (stage.blocking) most = std::max(most, stage.ahead - stage.ready);
  }
  EXPECT_GT(most, 0) << "control: threads wait";
  EXPECT_LE(most, 16) << "four begun, and as many rows";
}

TEST(ReorderBuffer, IsAheadOfAProgramAlsoWhereOneThreadDoesAllThatWaits) {
  const auto numbers = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> { return Element{Tensor::scalar(next++)}; };
  };
  Loader loader(from_generator(numbers, {{"", DType::i64, {}}}, {.blocking = true}), {.threads = 2});
  EXPECT_TRUE(becomes_true([&] { return loader.next() && top(loader).ready > 1; }));
}

TEST(ReorderBuffer, CountsWhatItIsAheadInElementsAlsoWhenTheyGetDear) {
  constexpr int64_t kCeiling = 40, kCheap = 160, kTaken = 140;
  const auto made = std::make_shared<std::atomic<int64_t>>(0);
  const Dataset dataset = range(100'000) | map([made](int64_t x) {
                            if (x >= kCheap) busy_us(1000);
                            ++*made;
                            return x;
                          });
  Loader loader(dataset, {.threads = 1, .run_ahead = kCeiling, .consumer_helps = false});
  for (int i = 0; i < kTaken; ++i) ASSERT_TRUE(loader.next());
  EXPECT_TRUE(becomes_true([&] {
    const int64_t before = *made;
    pause_ms(30);
    return *made == before;
  }));
  EXPECT_LE(*made, kTaken + kCeiling + 19 + 5) << "the rest of what is being given, and samples";
}

TEST(ReorderBuffer, GivesInOrderWhatIsReadyInAnother) {
  const Dataset dataset = range(120) | map(
                                           [](int64_t x) {
                                             pause_ms((x * 7) % 5);
                                             return x;
                                           },
                                           {.blocking = true});
  Loader loader(dataset, {.threads = 2});
  for (int64_t x = 0; x < 120; ++x) ASSERT_EQ(loader.next()->element()[0].as<int64_t>()[0], x);
}

Result<int64_t> fails_at_nines(int64_t x) {
  if (x % 9 == 4) return fail(ErrorKind::DataLoss, "nine");
  return x;
}
Tensor list(int64_t x) {
  const std::vector<int64_t> all(static_cast<size_t>(x % 40), x);
  return Tensor::from(std::span<const int64_t>(all), {x % 40});
}

std::vector<Dataset> pipelines() {
  const Step lists = map(&list, {.output = {{"", DType::i64, {kUnknown}}}});
  return {range(200) | map(&fails_at_nines) | lists | padded_batch(4),
          range(200) | map(&fails_at_nines) | batch(8) |
              map([](const Tensor& t) { return t; }, {.output = {{"", DType::i64, {kUnknown}}}}),
          range(200) | filter([](int64_t x) { return x % 3 > 0; }) | lists,
          generated(200) | lists | padded_batch(3),
          generated(200) | map(&fails_at_nines, {.blocking = true}) | lists | padded_batch(3),
          zip({range(200) | lists, generated(150)})};
}

// Takes up to `most` elements as a Loader does.
void run_a_while(Engine& engine, const Dataset& dataset, uint64_t most) {
  Context context(engine.memory.pool());
  const auto iterator = engine.open(*dataset.node(), {});
  for (uint64_t taken = 0; taken < most;) {
    const uint64_t seen = engine.consumer.progress();
    Element element;
    const Got got = iterator->next(context, element);
    if (got == Got::end) return;
    if (got == Got::pending && !engine.help(context, true)) engine.wait(seen);
    taken += got == Got::pending ? 0 : 1;
  }
}

TEST(ReorderBuffer, CountsNoMemoryWhenNothingIsLeft) {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    for (const Dataset& dataset : pipelines()) {
      const int threads = 1 + static_cast<int>(random.below(4));
      const auto engine = Engine::make(dataset, LoaderOptions{.threads = threads});
      run_a_while(*engine, dataset, round == 0 ? UINT64_MAX : random.below(60));
      engine->stop();
      ASSERT_TRUE(becomes_true([&] {  // Threads let go of what they hold as they end.
        return engine->memory.reserved() == 0 && engine->memory.ready() == 0 &&
               engine->memory.pool().stats().bytes_in_use == 0;
      })) << dataset.plan();
    }
  }
}

TEST(ReorderBuffer, CountsWhatIsReady) {
  const Dataset dataset = range(50) | map(&list, {.output = {{"", DType::i64, {kUnknown}}}});
  const auto engine = Engine::make(dataset, LoaderOptions{.threads = 2});
  Context context(engine->memory.pool());
  const auto iterator = engine->open(*dataset.node(), {});
  EXPECT_TRUE(becomes_true([&] {
    Element element;
    (void)(iterator->next(context, element) == Got::pending && engine->help(context, true));
    return engine->memory.ready() > 0;
  })) << "control: it is counted at all";
  engine->stop();
}

TEST(ReorderBuffer, GivesItemsInOrderWhateverIsReadyFirst) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  const Task first = buffer->begin(), second = buffer->begin(), third = buffer->begin();
  buffer->end(third);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "") << "the first is not ready";
  host.lock.lock();
  buffer->end(first);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "0");
  EXPECT_EQ(taken(*buffer), "") << "the second is not ready";
  host.lock.lock();
  buffer->end(second);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "1");
  EXPECT_EQ(taken(*buffer), "2");
  buffer->close();
}

TEST(ReorderBuffer, InAnyOrderGivesWhatIsReadyFirst) {
  PlainHost host({.deterministic = false});
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  const Task first = buffer->begin(), second = buffer->begin();
  buffer->end(second);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "1");
  host.lock.lock();
  buffer->end(first);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "0");
  buffer->close();
}

TEST(ReorderBuffer, HasWorkAsLongAsItCanBeClaimed) {
  PlainHost host({.run_ahead = 2});
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  const Task first = buffer->begin(), second = buffer->begin();
  Task none;
  EXPECT_FALSE(buffer->has_work(ThreadRole::worker, false)) << "two are ahead";
  EXPECT_FALSE(buffer->claim(ThreadRole::worker, false, none));
  EXPECT_FALSE(buffer->has_work(ThreadRole::io, false)) << "nothing waits";
  buffer->end(first);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "0");
  host.lock.lock();
  EXPECT_TRUE(buffer->has_work(ThreadRole::worker, false)) << "there is room for one more";
  EXPECT_TRUE(buffer->claim(ThreadRole::worker, false, none));
  host.lock.unlock();
  buffer->close();
  host.lock.lock();
  EXPECT_FALSE(buffer->has_work(ThreadRole::worker, false)) << "nobody takes any more";
  host.lock.unlock();
}

// What the program needs next is made though it exceeds the memory.
TEST(ReorderBuffer, NeedsNoMemoryForWhatIsAskedFor) {
  PlainHost host({.memory = 1});
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  host.memory.reserve(1 << 20);
  EXPECT_FALSE(buffer->has_work(ThreadRole::worker, true)) << "control: nobody asks for it";
  host.consumer.is_asking = true;
  EXPECT_TRUE(buffer->has_work(ThreadRole::worker, true)) << "try_next()";
  host.consumer.is_asking = false;
  host.consumer.is_waiting = true;
  EXPECT_TRUE(buffer->has_work(ThreadRole::worker, true)) << "next()";
  host.memory.release(1 << 20);
  host.lock.unlock();
  buffer->close();
}

// How many batches are ahead at most, and for how many takes of 40 a thread was woken. A thread that was woken makes
// batches until none has room. They take so long, each tenth `tenth_ns`.
std::pair<int64_t, int> ahead_and_wakes(int64_t bytes, int64_t each_ns, int64_t tenth_ns,
                                        const LoaderOptions& options = {}) {
  PlainHost host(options);
  const Dataset dataset = range(1000) | batch(2);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  int made = 0, wakes = 0;
  int64_t most = 0;
  for (int count = 0; count <= 40; ++count) {
    host.lock.lock();
    const bool was_woken = std::exchange(host.wakes, 0) > 0;
    for (int now = 0; (was_woken || count == 0) && buffer->has_work(ThreadRole::worker, false) && now < 100; ++now) {
      buffer->end(buffer->begin(), bytes, ++made % 10 == 0 ? tenth_ns : each_ns);
    }
    wakes += was_woken ? 1 : 0;
    most = std::max(most, buffer->stats().ahead);
    host.lock.unlock();
    EXPECT_EQ(taken(*buffer), std::to_string(count));
  }
  buffer->close();
  return {most, wakes};
}

TEST(ReorderBuffer, WakesAThreadForSeveralCheapBatchesAtOnce) {
  using AheadAndWakes = std::pair<int64_t, int>;
  constexpr int64_t kCheap = 1000, kDear = 1'000'000;
  EXPECT_EQ(ahead_and_wakes(1000, kCheap, kCheap), AheadAndWakes(8, 10)) << "when half of them are left";
  EXPECT_EQ(ahead_and_wakes(1000, kCheap, kDear), AheadAndWakes(8, 10)) << "in some the thread lost its processor";
  EXPECT_EQ(ahead_and_wakes(1000, kCheap, kCheap, {.run_ahead = 4}), AheadAndWakes(4, 20));
  EXPECT_EQ(ahead_and_wakes(300'000, kCheap, kCheap), AheadAndWakes(3, 20)) << "large ones";
  EXPECT_EQ(ahead_and_wakes(1000, kDear, kDear), AheadAndWakes(3, 40)) << "control: for each dear one";
}

// When the program goes away, threads go on until as many batches are ahead as threads work at, and one more, or more
// than half of a stock of cheap ones. What is taken for cheap depends on what else the machine does.
TEST(ReorderBuffer, GoesOnWheneverTheProgramIsAway) {
  for (const int threads : {1, 2, 4}) {
    for (const int64_t row_us : {0, 20}) {
      Loader loader(range(1 << 30) | map([row_us](int64_t x) {
                      if (row_us > 0) busy_us(row_us);
                      return x;
                    }) | batch(20),
                    {.threads = threads, .consumer_helps = false});
      Random random(static_cast<uint64_t>(threads));
      for (int round = 0; round < 100; ++round) {
        for (uint64_t left = 1 + random.below(12); left > 0; --left) ASSERT_TRUE(loader.next());
        ASSERT_TRUE(becomes_true([&] { return top(loader).ahead >= std::min(1 + threads, 5); }))
            << threads << " threads, " << row_us << " us, " << top(loader).ahead << " are ahead";
      }
    }
  }
}

TEST(ReorderBuffer, ABatchBeginsWhenItsInputIsWaitedFor) {
  const auto slow = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      pause_ms(5);
      return Element{Tensor::scalar(next++)};
    };
  };
  Loader loader(from_generator(slow, {{"", DType::i64, {}}}) | batch(2), {.epochs = 1, .threads = 2});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(loader.next());
  EXPECT_GT(top(loader).unit_ns, 2e6) << "to stack two numbers takes a thousandth of that";
}

TEST(ReorderBuffer, WhatComputesAfterAllIsNoLongerOnThreadsForWaiting) {
  const auto waits = std::make_shared<std::atomic<bool>>(true);
  const Dataset dataset = range(1 << 30) | map([waits](int64_t x) {
                            if (*waits) {
                              pause_ms(1);
                              return x;
                            }
                            const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
                            while (std::chrono::steady_clock::now() < until) {
                            }
                            return x;
                          });
  Loader loader(dataset, {.threads = 2});
  EXPECT_TRUE(becomes_true([&] { return loader.next() && top(loader).blocking; }));
  *waits = false;
  EXPECT_TRUE(becomes_true([&] { return loader.next() && !top(loader).blocking; }));
  Loader alone(dataset, {.threads = 1});
  *waits = true;
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(alone.next());
  EXPECT_FALSE(top(alone).blocking) << "one thread may be meant to be the only one";
}

}  // namespace
}  // namespace headpond::internal
