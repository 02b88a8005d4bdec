// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

// Epochs that something was begun in.
struct Begun {
  std::array<std::atomic<int>, 8> epochs = {};
};
// 0, 1, ... by a generator, each dear enough to be made ahead.
Dataset dear(int64_t count, const std::shared_ptr<Begun>& begun) {
  return generated(
      count, [begun](uint64_t epoch) { ++begun->epochs.at(epoch); }, [](int64_t) { busy_us(200); });
}

TEST(Prefetch, TheNextEpochIsBegunBeforeThisOneIsTakenToItsEnd) {
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

TEST(Prefetch, TheNextRoundIsBegunBeforeTheNextEpoch) {
  for (const bool restores : {false, true}) {
    const auto begun = std::make_shared<Begun>();
    const Dataset dataset = dear(20, begun) | repeat(3);
    const LoaderOptions options{.epochs = 2, .threads = 2};
    std::optional<Loader> first(std::in_place, dataset, options);
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(first->next());
    auto second = Loader::restored(dataset, options, first->state());
    if (restores) first.reset();
    Loader& loader = restores ? *second : *first;
    for (auto& epoch : begun->epochs) epoch = restores ? 0 : epoch.load();
    for (int i = 30; i < 39; ++i) ASSERT_TRUE(loader.next());
    EXPECT_TRUE(becomes_true([&] { return begun->epochs[2] > 0; })) << "restored: " << restores;
    EXPECT_EQ(begun->epochs[3], 0) << "the next epoch's first round comes later";
    EXPECT_EQ(rest_of(loader).size(), 81U);
  }
}

// One node whose binding to an epoch can be watched, and its end.
class Watched final : public Node {
 public:
  using Watch = std::function<void(uint64_t epoch)>;
  Watched(const Dataset& input, Watch at_bind, Watch at_end)
      : Node(facts_over(input.node(), "watched", "", input.spec())),
        at_bind_(std::move(at_bind)),
        at_end_(std::move(at_end)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    at_bind_(binding.epoch);
    const auto view = input().bind(binding);
    const auto end = [view, at_end = at_end_, epoch = binding.epoch](const View*) { at_end(epoch); };
    return {view.get(), end};
  }

 private:
  const Watch at_bind_, at_end_;
};
Dataset watched(
    Watched::Watch at_bind, Watched::Watch at_end = [](uint64_t) {},
    const std::function<void(int64_t)>& at_each = [](int64_t) {}) {
  const Step dear = map([at_each](int64_t x) {
    busy_us(200);
    at_each(x);
    return x;
  });
  return Dataset(std::make_shared<Watched>(range(5) | dear, std::move(at_bind), std::move(at_end)));
}

TEST(Prefetch, AnEpochThatIsBeingBegunIsNotBegunTwice) {
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

TEST(Prefetch, AnEpochThatCannotBeBegunEarlyIsBegunWhenItIsNeeded) {
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

// Other threads open parts of the next epoch while it is found that it cannot be begun: the list of what was opened for
// it is read and cleared at once. ThreadSanitizer sees it if the lock is missing.
TEST(Prefetch, AnEpochThatCannotBeBegunIsLetGoWhileItsPartsAreOpened) {
  Watchdog watchdog;
  watchdog.in("an epoch whose parts are opened while it fails");
  for (int round = 0; round < 20; ++round) {
    const auto opened = std::make_shared<std::atomic<int>>(0);
    const auto part = [opened] { return generated(2, [opened](uint64_t epoch) { *opened += epoch == 1 ? 1 : 0; }); };
    const auto same = [](int64_t x) { return x; };
    const Dataset parts = concatenate({part(), part(), part(), part()}) | map(same);
    const Dataset throwing = watched([opened](uint64_t epoch) {
      if (epoch != 1) return;
      becomes_true([&] { return *opened > 1; }, 20);
      throw Exception(Error(ErrorKind::Unknown, "not yet"));
    });
    Loader loader(zip({parts, throwing}), {.epochs = 2, .threads = 3});
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(loader.next());
    becomes_true([&] { return *opened > 1; }, 200);
    while (loader.next()) {
    }
  }
}

TEST(Prefetch, AThreadThatIsLeftInTheNextEpochDoesNotHoldTheProgram) {
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
    Loader loader(dataset, {.epochs = 2, .threads = 2, .abandon_after = std::chrono::milliseconds(50)});
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(loader.next());
    ASSERT_TRUE(becomes_true([&] { return begun->epochs[1] > 0; }));
  }
  EXPECT_EQ(begun->epochs[3], 0) << "it was not waited for";
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("watched does not return"));
  gate->open = true;
  EXPECT_TRUE(becomes_true([&] { return begun->epochs[3] > 0; }));
}

TEST(Prefetch, WhatIsOpenedForTheNextEpochIsNotWorkForThisOne) {
  const auto gate = std::make_shared<Gate>();
  const auto waiting = std::make_shared<std::atomic<bool>>(false);
  const auto part = [=](int64_t count, bool waits_in_next) {
    return from_generator(
        [=](uint64_t epoch) -> Generator {
          return [=, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
            if (waits_in_next && epoch == 1 && !waiting->exchange(true)) gate->pass();
            if (next == count) return std::nullopt;
            busy_us(200);
            return Element{Tensor::scalar(next++)};
          };
        },
        {{"", DType::i64, {}}});
  };
  const Dataset parts = concatenate({part(1, false), part(1, true), part(20, false)});
  Loader loader(parts | map([](int64_t x) { return x; }), {.epochs = 2, .threads = 2});
  for (int i = 0; i < 21; ++i) ASSERT_TRUE(loader.next());
  ASSERT_TRUE(becomes_true([&] { return waiting->load(); })) << "the next epoch's second part is opened";
  EXPECT_EQ(loader.stats().stages.size(), 1U) << "the map: from the parts of this epoch all is taken";
  gate->open = true;
  EXPECT_EQ(rest_of(loader).size(), 23U);
}

TEST(Prefetch, WhatDidNotComeMakesRoomForWhatIsExpectedNow) {
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const auto live = std::make_shared<std::atomic<int>>(0);
  const Dataset never_asked = from_generator(
      [=](uint64_t) -> Generator {
        ++*begun;
        ++*live;
        const std::shared_ptr<void> token(nullptr, [live](void*) { --*live; });
        return [token]() -> Result<std::optional<Element>> { return std::nullopt; };
      },
      {{"", DType::i64, {}}});
  const Dataset first = generated(
      5, [](uint64_t) {}, [](int64_t) { busy_us(100); });
  Loader loader(concatenate({first, never_asked}) | take(5) | repeat(), {.threads = 2});
  bool is_let_go = true;
  EXPECT_TRUE(becomes_true([&] {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(loader.next());
    pause_ms(1);
    is_let_go = becomes_true([&] { return *live <= 3; });  // At last: its thread may be held up.
    return *begun > 5 || !is_let_go;
  })) << "each round's is begun early";
  EXPECT_TRUE(is_let_go) << "and the one of the round before is let go";
}

TEST(Prefetch, WhatIsRestoredAtAnotherPlaceIsNotTakenFromIt) {
  const auto zeros = std::make_shared<std::atomic<int>>(0);
  const Dataset numbers = range(10) | map([zeros](int64_t x) -> Result<int64_t> {
                            if (x == 0) ++*zeros;
                            if (x == 9) return fail(ErrorKind::DataLoss, "nine");
                            return x;
                          });
  const Dataset dataset = zip({numbers | batch(4), concatenate({generated(2), numbers})});
  const auto expected = elements(dataset);
  *zeros = 0;
  Loader loader(dataset, {.threads = 2});
  ASSERT_TRUE(loader.next());
  ASSERT_TRUE(becomes_true([&] { return *zeros > 1; })) << "the numbers after the generator's are begun";
  EXPECT_EQ(rest_of(loader), std::vector(expected.begin() + 1, expected.end()))
      << "the third batch is made anew from its own elements";
}

struct Gates {
  std::atomic<bool> begins = false, holds = false, is_held = false, is_gone = false;
  Gate begin, end;
};
// Its epoch 1 waits at a gate where it begins and where it goes; if `holds`, each at its fourth element too.
Dataset gated(const std::shared_ptr<Gates>& gates) {
  const auto at_bind = [gates](uint64_t epoch) {
    if (epoch != 1) return;
    gates->begins = true;
    gates->begin.pass();
  };
  const auto at_end = [gates](uint64_t epoch) {
    if (epoch != 1) return;
    gates->end.pass();
    gates->is_gone = true;
  };
  const auto at_each = [gates](int64_t x) {
    if (x != 3 || !gates->holds) return;
    gates->is_held = true;
    gates->end.pass();
  };
  return watched(at_bind, at_end, at_each);
}

TEST(Prefetch, AThreadThatIsLeftWhereItLetsGoDoesNotHoldTheProgram) {
  Watchdog watchdog;
  watchdog.in("an epoch that is not let go");
  const auto gates = std::make_shared<Gates>();
  testing::internal::CaptureStderr();
  {
    Loader loader(gated(gates), {.epochs = 3, .threads = 2, .abandon_after = std::chrono::milliseconds(200)});
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(loader.next());
      pause_ms(2);  // A program that computes would keep the processor of one thread.
    }
    ASSERT_TRUE(becomes_true([&] { return gates->begins.load(); }));
    gates->holds = true;
    loader.next_epoch();
    loader.next_epoch();
    ASSERT_TRUE(loader.next());
    ASSERT_TRUE(becomes_true([&] { return gates->is_held.load(); })) << "the other thread is busy elsewhere";
    gates->begin.open = true;
  }
  EXPECT_FALSE(gates->is_gone) << "it was not waited for";
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("watched does not return"));
  gates->end.open = true;
  EXPECT_TRUE(becomes_true([&] { return gates->is_gone.load(); }));
}

TEST(Prefetch, AnEpochThatIsLeftOutIsLetGo) {
  using Live = std::array<std::atomic<int>, 4>;
  const auto live = std::make_shared<Live>();
  const Dataset dataset = from_generator(
      [live](uint64_t epoch) -> Generator {
        ++live->at(epoch);
        const std::shared_ptr<void> token(nullptr, [live, epoch](void*) { --live->at(epoch); });
        return [token, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
          if (next == 5) return std::nullopt;
          busy_us(200);
          return Element{Tensor::scalar(next++)};
        };
      },
      {{"", DType::i64, {}}});
  Loader loader(dataset, {.epochs = 4, .threads = 2});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(loader.next());
  ASSERT_TRUE(becomes_true([&] { return live->at(1) > 0; })) << "it was begun early";
  loader.next_epoch();
  loader.next_epoch();
  ASSERT_TRUE(loader.next());
  EXPECT_TRUE(becomes_true([&] { return live->at(1) == 0; }));
  EXPECT_EQ(live->at(2), 1);
}

}  // namespace
}  // namespace headpond::internal
