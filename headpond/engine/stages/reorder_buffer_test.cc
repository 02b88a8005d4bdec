// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/random.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"
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

// An engine without threads: the test does all the work.
class PlainHost final : public StageHost {
 public:
  explicit PlainHost(const LoaderOptions& with_options = {}) : StageHost(*plan().node(), with_options, 2) {}
  static const Dataset& plan() {
    static const Dataset numbers = range(1);
    return numbers;
  }
  std::unique_ptr<Iterator> open(const Node&, const Binding&) override { return nullptr; }
  std::unique_ptr<Iterator> restored(const std::function<std::unique_ptr<Iterator>()>&, StateVisitor&) override {
    return nullptr;
  }
  bool is_root(const Node&) const override { return true; }
  CostModel costs_of(const Node&) override { return {}; }
  void wake() override { ++wakes; }
  void made_progress() override { consumer.count_progress(); }
  void closed(const WorkSource&, const Node&, const CostModel&) override { ++closed_count; }
  bool has_workers() const override { return true; }
  bool has_io_threads() const override { return false; }
  int closed_count = 0;
  int wakes = 0;
};

struct Numbered final : WorkItem {
  int64_t number = 0;
  bool given = false;
};
constexpr int64_t kItemBytes = 100;
constexpr int64_t kBegunNs =
    1000;  // When each item is begun: how long one takes is up to the test, not to the machine.

// Whose items are opened and made by the test.
class ByHand final : public ReorderBuffer {
 public:
  ByHand(StageHost& host, const Dataset& dataset) : ReorderBuffer(host, stage_of(*dataset.node())) {}

  /// Opens an item of one row and claims that.
  Task begin() HEADPOND_REQUIRES(engine_state) {
    Task task;
    EXPECT_TRUE(has_work(ThreadRole::worker, false));
    EXPECT_TRUE(claim(ThreadRole::worker, false, task));
    EXPECT_EQ(task.item, nullptr);
    const auto item = std::make_shared<Numbered>();
    item->size = item->elements = 1;
    item->number = opened_by_test_++;
    item_opened(task, item, Got::value, {.ended_ns = kBegunNs + 1, .elapsed_ns = 1}, host_.consumer.progress());
    EXPECT_TRUE(claim(ThreadRole::worker, false, task));
    EXPECT_EQ(task.item, item);
    return task;
  }
  void end(const Task& task, int64_t bytes = kItemBytes, int64_t latency_ns = 2) HEADPOND_REQUIRES(engine_state) {
    EXPECT_TRUE(rows_made(task, 1));
    task.item->bytes = bytes;
    item_ready(*task.item, kBegunNs + latency_ns);
  }

 protected:
  Got open(int64_t, Context&, std::shared_ptr<WorkItem>&) override { return Got::end; }
  void make_rows(WorkItem&, int64_t, int64_t, Context&) override {}
  void assemble(WorkItem&, Context&) override {}
  void visit_position(StateVisitor&) override {}
  Got give(WorkItem& item, Context&, Element& out) override {
    auto& numbered = static_cast<Numbered&>(item);
    if (std::exchange(numbered.given, true)) return Got::end;
    out = Element{Tensor::scalar(numbered.number)};
    return Got::value;
  }

 private:
  int64_t opened_by_test_ = 0;
};

std::string taken(ReorderBuffer& buffer) {
  Context context;
  Element element;
  const Got got = buffer.next(context, element);
  return got == Got::value   ? text_of(element)
         : got == Got::error ? context.error.message()
         : got == Got::end   ? "end"
                             : "";
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

TEST(ReorderBuffer, WhatASampleTakesIsNotTheCostOfARow) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  buffer->end(buffer->begin());
  const double before = buffer->stats().element_ns;
  Task sampled = buffer->begin(), plain = buffer->begin();
  sampled.is_sampled = true;
  EXPECT_TRUE(buffer->rows_made(sampled, 1'000'000));
  EXPECT_EQ(buffer->stats().element_ns, before);
  EXPECT_TRUE(buffer->rows_made(plain, 1'000'000));
  EXPECT_GT(buffer->stats().element_ns, before) << "control: of another task";
  host.lock.unlock();
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

TEST(ReorderBuffer, ReservesMemoryUntilAnItemIsReadyAndCountsItUntilItIsTaken) {
  PlainHost host;
  const Dataset dataset = range(10) | map(&list, {.output = {{"", DType::i64, {kUnknown}}}});
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  buffer->end(buffer->begin());
  EXPECT_EQ(host.memory.ready(), kItemBytes);
  EXPECT_EQ(host.memory.reserved(), 0);
  const Task second = buffer->begin();
  EXPECT_GE(host.memory.reserved(), kItemBytes) << "as large as the first";
  buffer->end(second);
  EXPECT_EQ(host.memory.reserved(), 0);
  EXPECT_EQ(host.memory.ready(), 2 * kItemBytes);
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "0");
  EXPECT_EQ(host.memory.ready(), kItemBytes);
  buffer->close();
  EXPECT_EQ(host.memory.ready(), 0) << "what nobody takes any more";
  EXPECT_EQ(host.closed_count, 1);
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

TEST(ReorderBuffer, OfSeveralErrorsThatLoseItemsGivesTheFirstInPlaceNotInTime) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  host.lock.lock();
  const Task first = buffer->begin(), second = buffer->begin(), third = buffer->begin();
  buffer->item_lost(second, Error(ErrorKind::DataLoss, "second"));
  buffer->item_lost(third, Error(ErrorKind::DataLoss, "third"));
  buffer->item_lost(first, Error(ErrorKind::DataLoss, "first"));
  host.lock.unlock();
  EXPECT_EQ(taken(*buffer), "first");
  EXPECT_EQ(taken(*buffer), "end");
  buffer->close();
}

// So that it runs as far ahead as the wait needs.
TEST(ReorderBuffer, AnItemWasAskedForBeforeALongWaitForItsInput) {
  PlainHost host;
  const Dataset dataset = range(10);
  const auto buffer = std::make_shared<ByHand>(host, dataset);
  constexpr int64_t kMs = 1'000'000;
  const Locked locked(host.lock);
  EXPECT_EQ(buffer->asked_for_it(Got::value, 1 * kMs), 1 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::pending, 2 * kMs), 2 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::pending, 5 * kMs), 5 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::value, 9 * kMs), 2 * kMs) << "since the first time that there was none";
  EXPECT_EQ(buffer->asked_for_it(Got::value, 10 * kMs), 10 * kMs) << "the next one was there";
  EXPECT_EQ(buffer->asked_for_it(Got::pending, 11 * kMs), 11 * kMs);
  EXPECT_EQ(buffer->asked_for_it(Got::value, 11 * kMs + kMs / 2), 11 * kMs + kMs / 2) << "a short wait is none";
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
