// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/random.h"
#include "headpond/engine/core_internal.h"
#include "headpond/engine/engine_test_internal.h"

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

void take(Loader& loader, int count, int64_t step_ms) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(loader.next());
    pause_ms(step_ms);
  }
}
StageStats top(const Loader& loader) { return loader.stats().stages.at(0); }

TEST(Window, IsAsManyAheadAsAreTakenWhileOneIsMade) {
  Loader loader(range(1 << 30) | sleeps(60), {.threads = 2});
  for (int round = 0; round < 5; ++round) {
    take(loader, 10, 1);
    EXPECT_TRUE(becomes_true([&] {  // Again, after a step that took long.
      take(loader, 1, 1);
      const StageStats stage = top(loader);
      EXPECT_LE(static_cast<double>(stage.target), 3 + 1 + stage.unit_ns / 0.9e6)
          << "a step takes a millisecond at least";
      return stage.target > 3 + 4;
    })) << "60 ms to make one, a few between two takes";
  }
  Loader easy(range(100'000) | sleeps(0), {.threads = 2});
  take(easy, 10, 20);
  EXPECT_LE(static_cast<double>(top(easy).target), 3 + 1 + top(easy).unit_ns / 18e6)
      << "control: what is made in no time needs few";
}

TEST(Window, IsAsDeepInTheSecondEpochAsInTheFirst) {
  constexpr int kCount = 1000;
  Loader loader(range(kCount) | sleeps(200), {.epochs = 2, .threads = 2});
  // After how many elements more; kCount: after none.
  const auto gets_deep = [&] {
    for (int taken = 1; taken < kCount; ++taken) {
      take(loader, 1, 1);
      if (top(loader).target > 3 + 10) return taken;
    }
    return kCount;
  };
  const int first = gets_deep();
  EXPECT_LT(first, kCount);
  take(loader, kCount - first, 1);
  EXPECT_LT(gets_deep(), 30) << "200 ms to make one, a few between two takes";
}

TEST(Window, IsNeverDeeperThanItsCeiling) {
  for (const int64_t ceiling : {1, 5}) {
    Loader loader(range(100'000) | sleeps(10), {.threads = 2, .run_ahead = ceiling});
    for (int i = 0; i < 20; ++i) {
      take(loader, 1, 0);
      EXPECT_LE(top(loader).target, ceiling);
      EXPECT_LE(top(loader).ahead, ceiling);
    }
  }
}

TEST(Window, CountsWhatItIsAheadInElementsAlsoWhenTheyGetDear) {
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

TEST(Window, GivesInOrderWhatIsReadyInAnother) {
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

// Takes up to `most` elements as a Loader does; what the core counts of memory
// is then asked for.
void run_a_while(Core& core, const Dataset& dataset, uint64_t most) {
  Context context(core.pool());
  const auto iterator = core.open(*dataset.node(), {});
  for (uint64_t taken = 0; taken < most;) {
    const uint64_t seen = core.progress();
    Element element;
    const Got got = iterator->next(context, element);
    if (got == Got::end) return;
    if (got == Got::pending && !core.help(context)) core.wait(seen);
    taken += got == Got::pending ? 0 : 1;
  }
}

TEST(Window, CountsNoMemoryWhenNothingIsLeft) {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    for (const Dataset& dataset : pipelines()) {
      const int threads = 1 + static_cast<int>(random.below(4));
      const auto core = std::make_shared<Core>(dataset, LoaderOptions{.threads = threads});
      run_a_while(*core, dataset, round == 0 ? UINT64_MAX : random.below(60));
      core->stop();
      ASSERT_TRUE(becomes_true([&] {  // At once, unless a thread got no processor and was left behind.
        const MutexLock lock(core->mu);
        return core->pending_bytes == 0 && core->ready_bytes == 0 && core->pool().stats().bytes_in_use == 0;
      })) << dataset.plan();
    }
  }
}

TEST(Window, CountsWhatIsReady) {
  const Dataset dataset = range(50) | map(&list, {.output = {{"", DType::i64, {kUnknown}}}});
  const auto core = std::make_shared<Core>(dataset, LoaderOptions{.threads = 2});
  Context context(core->pool());
  const auto iterator = core->open(*dataset.node(), {});
  EXPECT_TRUE(becomes_true([&] {
    Element element;
    (void)(iterator->next(context, element) == Got::pending && core->help(context));
    const MutexLock lock(core->mu);
    return core->ready_bytes > 0;
  })) << "control: it is counted at all";
  core->stop();
}

// Whose units are made by the test.
class ByHand final : public Window {
 public:
  ByHand(Core& core, const Dataset& dataset) : Window(core, stage_of(*dataset.node())) {}
  Got open(int64_t, Context&, std::shared_ptr<Unit>&) override { return Got::end; }
  void work(Unit&, int64_t, int64_t, Context&) override {}
  void complete(Unit&, Context&) override {}
  /// Opens a unit of one row and claims that.
  Task begin() {
    Task task;
    EXPECT_TRUE(claim(Role::worker, false, &task));
    const auto unit = std::make_shared<Unit>();
    unit->size = unit->elements = 1;
    finish_open(unit, Got::value, 1, core_.progress(), 1);
    EXPECT_TRUE(claim(Role::worker, false, &task));
    EXPECT_EQ(task.unit, unit);
    return task;
  }

 protected:
  void visit_place(StateVisitor&) override {}
  Got give(Unit&, Context&, Element&) override { return Got::end; }
};

TEST(Window, OfSeveralErrorsThatLoseUnitsGivesTheFirstInPlaceNotInTime) {
  const Dataset dataset = range(10);
  const auto core = std::make_shared<Core>(dataset, LoaderOptions{.threads = 2});
  const auto window = std::make_shared<ByHand>(*core, dataset);
  {
    const MutexLock lock(core->mu);
    const Task first = window->begin(), second = window->begin(), third = window->begin();
    window->lose(second, Error(ErrorKind::DataLoss, "second"));
    window->lose(third, Error(ErrorKind::DataLoss, "third"));
    window->lose(first, Error(ErrorKind::DataLoss, "first"));
  }
  Context context(core->pool());
  Element element;
  EXPECT_EQ(window->next(context, element), Got::error);
  EXPECT_EQ(context.error.message(), "first");
  EXPECT_EQ(window->next(context, element), Got::end);
  window->close();
}

TEST(Waits, AreBelievedAfterAWhileAndUnbelievedToo) {
  Waits waits;
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(waits.add(true));
  EXPECT_TRUE(waits.add(true)) << "the eighth long task";
  EXPECT_TRUE(waits.blocking);
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(waits.add(i % 2 == 0));
  EXPECT_TRUE(waits.blocking) << "half of them wait";
  bool changed = false;
  for (int i = 0; i < 20 && !changed; ++i) changed = waits.add(false);
  EXPECT_TRUE(changed);
  EXPECT_FALSE(waits.blocking);
}

TEST(Window, WhatComputesAfterAllIsNoLongerOnThreadsForWaiting) {
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
