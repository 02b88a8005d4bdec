// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>

#include "headpond/dataset/pointwise.h"
#include "headpond/engine/core_internal.h"
#include "headpond/engine/engine_test_internal.h"
#include "headpond/engine/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

void busy_us(int64_t us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < until) {
  }
}

// Epochs that something was begun in.
struct Begun {
  std::array<std::atomic<int>, 8> epochs = {};
};
// 0, 1, ... by a generator, each dear enough to be made ahead.
Dataset dear(int64_t count, const std::shared_ptr<Begun>& begun) {
  return generated(
      count, [begun](uint64_t epoch) { ++begun->epochs.at(epoch); }, [](int64_t) { busy_us(200); });
}

TEST(Core, TheNextEpochIsBegunBeforeThisOneIsTakenToItsEnd) {
  for (const int64_t ceiling : {-1, 0}) {
    const auto begun = std::make_shared<Begun>();
    const Dataset dataset = dear(5, begun);
    Loader loader(dataset, {.epochs = 2, .threads = 2, .run_ahead = ceiling});
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(loader.next());
    const auto is_begun = [&] { return begun->epochs[1] > 0; };
    EXPECT_EQ(becomes_true(is_begun, ceiling < 0 ? 30'000 : 20), ceiling < 0) << "control: nothing is made ahead";
    EXPECT_EQ(rest_of(loader).size(), 6U);
    EXPECT_EQ(begun->epochs[0], 1);
    EXPECT_EQ(begun->epochs[1], 1);
    EXPECT_EQ(begun->epochs[2], 0) << "there is no third one";
  }
}

TEST(Core, TheNextRoundIsBegunBeforeTheNextEpoch) {
  for (const bool restores : {false, true}) {
    const auto begun = std::make_shared<Begun>();
    const Dataset dataset = dear(20, begun) | repeat(3);
    const LoaderOptions options{.epochs = 2, .threads = 2};
    Loader first(dataset, options);
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(first.next());
    auto second = Loader::restored(dataset, options, first.state());
    Loader& loader = restores ? *second : first;
    for (auto& epoch : begun->epochs) epoch = restores ? 0 : epoch.load();
    for (int i = 30; i < 39; ++i) ASSERT_TRUE(loader.next());
    EXPECT_TRUE(becomes_true([&] { return begun->epochs[2] > 0; })) << "restored: " << restores;
    EXPECT_EQ(begun->epochs[3], 0) << "the next epoch's first round comes later";
    EXPECT_EQ(rest_of(loader).size(), 81U);
  }
}

// One node whose binding to an epoch can be watched.
class Watched final : public Node {
 public:
  using AtBind = std::function<void(uint64_t epoch)>;
  Watched(const Dataset& input, AtBind at_bind)
      : Node(facts_over(input.node(), "watched", "", input.spec())), at_bind_(std::move(at_bind)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    at_bind_(binding.epoch);
    return input().bind(binding);
  }

 private:
  const AtBind at_bind_;
};
Dataset watched(Watched::AtBind at_bind) {
  const Step dear = map([](int64_t x) {
    busy_us(200);
    return x;
  });
  return Dataset(std::make_shared<Watched>(range(5) | dear, std::move(at_bind)));
}

TEST(Core, AnEpochThatIsBeingBegunIsNotBegunTwice) {
  const auto begun = std::make_shared<Begun>();
  const auto gate = std::make_shared<Gate>();
  const Dataset dataset = watched([begun, gate](uint64_t epoch) {
    ++begun->epochs.at(epoch);
    if (epoch == 1) gate->pass();
  });
  Loader loader(dataset, {.epochs = 2, .threads = 2});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(loader.next());
  ASSERT_TRUE(becomes_true([&] { return begun->epochs[1] > 0; }));
  std::thread opening([gate] {
    pause_ms(30);
    gate->open = true;
  });
  EXPECT_EQ(rest_of(loader).size(), 6U);
  opening.join();
  EXPECT_EQ(begun->epochs[1], begun->epochs[0]) << "as often as the one that was not begun early";
}

TEST(Core, AnEpochThatCannotBeBegunEarlyIsBegunWhenItIsNeeded) {
  Watchdog watchdog;
  watchdog.in("an epoch that cannot be begun early");
  const auto begun = std::make_shared<Begun>();
  const Dataset throwing = watched([begun](uint64_t epoch) {
    if (epoch == 1 && begun->epochs[1]++ == 0) throw Exception(Error(ErrorKind::Unknown, "not yet"));
  });
  const auto same = [](int64_t x) { return x; };
  const Dataset dataset = zip({range(5) | map(same, {.blocking = true}) | map(same), generated(5), throwing});
  Loader loader(dataset, {.epochs = 2, .threads = 2});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(loader.next());
  ASSERT_TRUE(becomes_true([&] { return begun->epochs[1] > 0; }));
  EXPECT_EQ(rest_of(loader).size(), 6U);
}

TEST(Core, AThreadThatIsLeftInTheNextEpochDoesNotHoldTheProgram) {
  Watchdog watchdog;
  watchdog.in("an epoch that does not begin");
  const auto begun = std::make_shared<Begun>();
  const auto gate = std::make_shared<Gate>();
  const Dataset dataset = watched([begun, gate](uint64_t epoch) {
    ++begun->epochs.at(epoch);
    if (epoch == 1) gate->pass();
    ++begun->epochs.at(2 + epoch);
  });
  testing::internal::CaptureStderr();
  {
    Loader loader(dataset, {.epochs = 2, .threads = 2});
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(loader.next());
    ASSERT_TRUE(becomes_true([&] { return begun->epochs[1] > 0; }));
  }
  EXPECT_EQ(begun->epochs[3], 0) << "it was not waited for";
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("watched does not return"));
  gate->open = true;
  EXPECT_TRUE(becomes_true([&] { return begun->epochs[3] > 0; }));
}

TEST(Core, StaysBelowItsMemoryAndCountsWhatTheProgramHolds) {
  constexpr int64_t kBatch = 100 * 8, kMemory = 20 * kBatch;
  const Dataset dataset = range(100'000) | map([](int64_t x) { return x; }) | batch(100);
  Loader loader(dataset, {.threads = 2, .memory = kMemory});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(loader.next());
  EXPECT_LE(loader.stats().memory_peak, kMemory + 2 * kBatch);
  std::vector<Batch> held;
  held.reserve(30);
  for (int i = 0; i < 30; ++i) held.push_back(*std::move(*loader.next()));
  EXPECT_GE(loader.stats().memory_in_use, 30 * kBatch) << "more than the memory, and the program goes on";
  held.clear();
  EXPECT_TRUE(becomes_true([&] { return loader.stats().memory_in_use <= kMemory; }));
}

TEST(Core, BatchesThatAreCheapAreMadeByWhoAsks) {
  Loader cheap(range(1 << 30) | batch(8), {.threads = 2});
  EXPECT_TRUE(becomes_true([&] { return cheap.next() && cheap.stats().inline_now; }));
  Loader alone(range(1 << 30) | batch(8), {.threads = 2, .consumer_helps = false});
  const Dataset costly = range(1 << 30) | map([](int64_t x) {
                           busy_us(200);
                           return x;
                         }) |
                         batch(8);
  Loader slow(costly, {.threads = 2});
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(alone.next());
    ASSERT_TRUE(slow.next());
    EXPECT_FALSE(alone.stats().inline_now) << "control: who asks must not work";
    EXPECT_FALSE(slow.stats().inline_now) << "control: these are not cheap";
  }
}

TEST(Core, NoMoreThreadsWorkAtOnceThanItMayUse) {
  for (const int threads : {1, 2}) {
    const auto crowd = std::make_shared<Crowd>();
    const Dataset dataset = range(300) | map([crowd](int64_t x) {
                              crowd->enter();
                              busy_us(20);
                              crowd->leave();
                              return x;
                            }) |
                            batch(4);
    EXPECT_EQ(loaded(dataset, {.threads = threads}).size(), 75U);
    EXPECT_LE(crowd->most, threads) << "the program's thread included";
  }
  const auto crowd = std::make_shared<Crowd>();
  const Dataset dataset = range(12) | map([crowd](int64_t x) {
                            if (x < 3) crowd->meet(3);
                            return x;
                          });
  EXPECT_EQ(loaded(dataset, {.threads = 4}).size(), 12U);
  EXPECT_GE(crowd->most, 3) << "control: as many as it may use do work at once";
}

TEST(Core, AProgramMayMoveFromThreadToThread) {
  Loader loader(range(400) | map([](int64_t x) { return x; }) | batch(2), {.threads = 2});
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      busy_us(i % 2 == 0 ? 3000 : 0);
      for (int k = 0; k < 10; ++k) ASSERT_TRUE(loader.next());
      pause_ms(1);
    }).join();
  }
  EXPECT_FALSE(*loader.next());
}

}  // namespace
}  // namespace headpond::internal
