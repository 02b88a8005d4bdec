// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "headpond/engine/loader.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AheadBuffer, AGeneratorIsAskedByOneThreadAtATime) {
  const auto asked = std::make_shared<Crowd>();
  const auto applied = std::make_shared<Crowd>();
  const auto ask = [asked](int64_t) {
    asked->enter();
    std::this_thread::yield();
    asked->leave();
  };
  const Dataset dataset = generated(
                              400, [](uint64_t) {}, ask) |
                          map([applied](int64_t x) {
                            if (x < 8) applied->meet(2);
                            return 2 * x;
                          });
  EXPECT_EQ(loaded(dataset, {.threads = 4, .consumer_helps = false}).size(), 400U);
  EXPECT_EQ(asked->most, 1);
  EXPECT_EQ(asked->entered, 401);
  EXPECT_GE(applied->most, 2) << "control: what stands above it is applied by several threads at once";
}

TEST(AheadBuffer, AGeneratorIsReadAheadOfTheProgram) {
  for (const int64_t ceiling : {-1, 0}) {
    const auto asked = std::make_shared<Crowd>();
    const auto ask = [asked](int64_t) {
      asked->enter();
      asked->leave();
    };
    Loader loader(generated(
                      1000, [](uint64_t) {}, ask),
                  {.threads = 1, .run_ahead = ceiling});
    ASSERT_TRUE(loader.next());
    const auto goes_on = [&] { return asked->entered > 1; };
    EXPECT_EQ(becomes_true(goes_on, ceiling < 0 ? 30'000 : 20), ceiling < 0) << "control: a ceiling of none";
  }
}

TEST(AheadBuffer, ElementsComeInOrderThroughTheWholeChain) {
  const auto slow_fives = [](int64_t x) {
    if (x % 5 == 0) pause_ms(1);
    return x;
  };
  const auto no_sevens = [](int64_t x, uint32_t drawn) -> Result<int64_t> {
    if (x % 7 == 3) return fail(ErrorKind::DataLoss, fmt::format("no {}", x));
    return x * x + drawn;
  };
  const Dataset dataset =
      generated(90) | map(slow_fives) | filter([](int64_t x) { return x % 2 == 1; }) | random_u32() | map(no_sevens);
  const auto expected = elements(dataset, {.seed = 5, .epochs = 2});
  EXPECT_EQ(expected.size(), 90U);
  for (const int threads : {0, 1, 4}) {
    EXPECT_EQ(loaded(dataset, {.epochs = 2, .seed = 5, .threads = threads}), expected) << threads << " threads";
  }
}

TEST(AheadBuffer, TheStateIsThatAfterTheElementHoweverFarTheGeneratorIs) {
  const Dataset dataset = generated(40) | shuffle(6) | map([](int64_t x) { return x + 1; });
  Loader loader(dataset, {.threads = 4});
  Sequence sequence(dataset);
  std::vector<std::string> states;
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(text_of(loader.next()->element()), text_of(*sequence.next()));
    ASSERT_EQ(loader.state(), sequence.state()) << "after " << i;
    states.push_back(loader.state());
  }
  auto restored = Loader::restored(dataset, {.threads = 2}, states[30]);
  ASSERT_TRUE(restored);
  EXPECT_EQ(rest_of(*restored).size(), 9U);
}

TEST(AheadBuffer, TheErrorOfALostGeneratorStaysThatOfAnElementDoesNot) {
  const auto cut = [](int64_t x) {
    if (x == 3) throw std::runtime_error("the wire is cut");
  };
  const auto bad_one = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DataLoss, "a bad one");
    return x;
  };
  for (const int threads : {0, 2}) {
    Loader loader(generated(
                      9, [](uint64_t) {}, cut) |
                      map(bad_one),
                  {.threads = threads});
    EXPECT_EQ(text_of(loader.next()->element()), "0");
    EXPECT_THAT(loader.next().error().message(), HasSubstr("a bad one"));
    EXPECT_EQ(text_of(loader.next()->element()), "2");
    for (int i = 0; i < 5; ++i) {
      const auto next = loader.next();
      ASSERT_FALSE(next);
      EXPECT_THAT(next.error().message(), HasSubstr("the wire is cut"));
    }
  }
}

// A generator that gives each element only after the program took the one before, and waits for that for `ms`.
struct Lockstep {
  std::atomic<int64_t> taken = 0;
  std::atomic<bool> waited_in_vain = false;
  void await(int64_t count, int64_t ms) {
    if (!becomes_true([&] { return taken >= count; }, ms)) waited_in_vain = true;
  }
};
Dataset in_lockstep(const std::shared_ptr<Lockstep>& steps, int64_t ms, bool blocking) {
  const auto make = [=](uint64_t) -> Generator {
    return [=, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 8) return std::nullopt;
      steps->await(next, ms);
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", DType::i64, {}}}, {.blocking = blocking});
}
bool waits_in_vain(const Step& step, int64_t ms, bool blocking, int threads) {
  const auto steps = std::make_shared<Lockstep>();
  Loader loader(in_lockstep(steps, ms, blocking) | step, {.threads = threads});
  while (loader.next()) ++steps->taken;
  EXPECT_EQ(steps->taken, 8);
  return steps->waited_in_vain;
}

TEST(AheadBuffer, WhatAGeneratorGaveIsDeliveredWhileItWaitsIfThatIsDeclared) {
  const auto half = [](int64_t x) { return x / 2; };
  for (const Step& step : {map(half), map(half, {.blocking = true}), batch(1), map(half) | batch(1), take(30)}) {
    SCOPED_TRACE((range(2) | step).plan());
    for (const int threads : {0, 1, 2, 4}) EXPECT_FALSE(waits_in_vain(step, 30'000, true, threads)) << threads;
  }
  EXPECT_TRUE(becomes_true([] { return waits_in_vain(take(30), 2, false, 2); }))
      << "control: else elements are delivered in groups";
}

TEST(AheadBuffer, WhatWaitsIsNotAppliedByWhoTakesFromIt) {
  const auto waits = [](int64_t x) {
    pause_ms(1);
    return x;
  };
  const Dataset dataset =
      range(30) | map(waits, {.blocking = true}) | map([](int64_t x) { return -x; }) | batch(10) | take(1);
  EXPECT_THAT(loaded(dataset, {.threads = 2}), ElementsAre("[0 -1 -2 -3 -4 -5 -6 -7 -8 -9]"));
}

}  // namespace
}  // namespace headpond::internal
