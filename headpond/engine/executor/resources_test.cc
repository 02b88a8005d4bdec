// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/executor/resources.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
#include "headpond/engine/testing/loader_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

// How many functions run at once, and the most so far.
struct Meter {
  std::atomic<int> now = 0, most = 0;
  Dataset through(int64_t count, std::chrono::microseconds time = std::chrono::microseconds(200)) {
    return range(count) | map([this, time](int64_t x) {
             const int inside = ++now;
             for (int seen = most; seen < inside && !most.compare_exchange_weak(seen, inside);) {
             }
             const auto until = std::chrono::steady_clock::now() + time;
             while (std::chrono::steady_clock::now() < until) {
             }
             --now;
             return x;
           }) |
           batch(8);
  }
};

std::vector<std::string> taken_by_turns(Loader& one, Loader& two) {
  std::vector<std::string> all;
  for (bool goes_on = true; goes_on;) {
    const auto first = rest(one, 1), second = rest(two, 1);
    goes_on = !first.empty() || !second.empty();
    all.insert(all.end(), first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
  }
  return all;
}

TEST(Resources, LoadersThatShareThemComputeWithNoMoreThreadsTogether) {
  Meter shared, apart;
  std::vector<std::string> expected;
  {
    Loader one(apart.through(160), {.threads = 2}), two(apart.through(160), {.threads = 2});
    expected = taken_by_turns(one, two);
  }
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 2});
  Loader one(shared.through(160), {.resources = resources}), two(shared.through(160), {.resources = resources});
  EXPECT_EQ(taken_by_turns(one, two), expected) << "the same batches";
  EXPECT_LE(shared.most, 2);
  EXPECT_GE(apart.most, 2) << "control: on their own, up to five";
  EXPECT_TRUE(becomes_true([&] { return resources->running() == 0; }));
}

TEST(Resources, ACacheThatFindsTheMemoryInUseByAnotherSaysSo) {
  const auto made_in_two_passes = [](int64_t memory, std::string& said) {
    set_log_sink([&said](LogLevel, std::string_view line) { said += line; });
    const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 1, .memory = memory});
    const auto large = [](int64_t) { return std::string(10'000, 'x'); };
    std::atomic<int64_t> made = 0;
    const auto counted = [&made](int64_t x) { return ++made, x; };
    Loader train(range(80) | map(large) | cache() | batch(1), {.run_ahead = 0, .resources = resources});
    Loader eval(range(50) | map(counted) | cache() | batch(5), {.run_ahead = 0, .resources = resources});
    std::vector<Batch> held;
    while (auto batch = train.next()) held.push_back(*std::move(batch));
    (void)rest(eval);
    eval.rewind();
    (void)rest(eval);
    set_log_sink({});
    return made.load();
  };
  std::string said;
  EXPECT_EQ(made_in_two_passes(8 << 20, said), 50) << "control";
  EXPECT_EQ(said, "");
  EXPECT_EQ(made_in_two_passes(1'200'000, said), 100);
  EXPECT_EQ(test::times_in(said, "cache: not all is kept"), 2U) << "of each cache once: " << said;
}

TEST(Resources, AWaitingNextIsNotHeldUpByTheOthersWork) {
  Meter meter;
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 1});
  Loader endless(meter.through(int64_t{1} << 40), {.resources = resources});
  Loader other(meter.through(64), {.resources = resources});
  EXPECT_EQ(rest(endless, 2).size(), 2U);
  EXPECT_EQ(rest(other).size(), 8U) << "while the first one could make batches for ever";
  EXPECT_EQ(rest(endless, 2).size(), 2U);
  EXPECT_EQ(meter.most, 1);
}

TEST(Resources, AFunctionOfOneLoaderMayReadFromAnother) {
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 1});
  Loader inner(range(20) | map([](int64_t x) { return 10 * x; }), {.consumer_helps = false, .resources = resources});
  Loader outer(range(20) | map([&](int64_t x) -> Result<int64_t> {
                 auto batch = inner.next();
                 if (!batch) return fail(batch.error());
                 return x + (*batch)[0].item<int64_t>();
               }),
               {.consumer_helps = false, .resources = resources});
  EXPECT_EQ(rest(outer).size(), 20U) << "whose only thread waits for the inner one's";
  EXPECT_TRUE(becomes_true([&] { return resources->running() == 0; }));
}

TEST(Resources, ProgramsOnTwoThreadsGetAllOfBoth) {
  Meter meter;
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 2});
  std::vector<std::thread> programs;
  std::atomic<size_t> batches = 0;
  for (int i = 0; i < 3; ++i) {
    programs.emplace_back([&] {
      Loader loader(meter.through(200, std::chrono::microseconds(20)), {.resources = resources});
      batches += rest(loader).size();
    });
  }
  for (std::thread& program : programs) program.join();
  EXPECT_EQ(batches, 75U);
  EXPECT_LE(meter.most, 2);
}

TEST(Resources, TheMemoryIsThatOfAllTogether) {
  const auto large = [] {
    return range(64) |
           map([](const Element&) -> Result<Element> { return Element{Tensor::empty(f32, {1 << 14})}; },
               {.output = Spec{{"", f32, {1 << 14}}}, .name = "large"}) |
           batch(1);
  };
  constexpr int64_t kMemory = 2 << 20;
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 2, .memory = kMemory});
  Loader one(large(), {.resources = resources}), two(large(), {.resources = resources});
  int64_t most = 0;
  while (true) {
    const auto of_one = one.next(), of_two = two.next();  // Held meanwhile, as perhaps nothing is made ahead.
    if (!of_one || !of_two) break;
    most = std::max(most, resources->memory_in_use());
  }
  EXPECT_LE(most, kMemory + (1 << 17));
  EXPECT_GE(most, 1 << 16);
  EXPECT_EQ(one.stats().memory_in_use, two.stats().memory_in_use) << "there is only one budget";
  EXPECT_EQ(refused([&] {
              (void)Loader(range(1) | batch(1) |
                               map([](const Element&) -> Result<Element> { return Element{}; },
                                   {.output = Spec{{"", f32, {1 << 20}}}, .name = "too_large"}),
                           {.resources = resources});
            }).kind(),
            ErrorKind::ResourceExhausted);
}

TEST(Resources, ThreadsOfALoaderAreAtMostThoseOfTheResources) {
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 2});
  const auto threads = [&](int asked) {
    return Loader(range(4), {.threads = asked, .resources = resources}).stats().threads;
  };
  EXPECT_EQ(threads(-1), 2);
  EXPECT_EQ(threads(5), 2);
  EXPECT_EQ(threads(1), 1);
  Meter meter;
  Loader endless(meter.through(int64_t{1} << 40), {.resources = resources});
  EXPECT_EQ(rest(endless, 1).size(), 1U);
  Loader none(range(40) | batch(2), {.threads = 0, .resources = resources});
  const auto all = rest(none, 25);
  EXPECT_EQ(all.size(), 20U) << all.back() << "; next() does the work, also while all threads compute";
}

TEST(Resources, ALoaderThatEndsLeavesNothing) {
  Meter meter;
  const auto resources = std::make_shared<Resources>(ResourcesOptions{.threads = 2});
  for (int i = 0; i < 20; ++i) {
    Loader loader(meter.through(1000), {.resources = resources});
    EXPECT_EQ(rest(loader, 1).size(), 1U);
  }
  EXPECT_EQ(resources->running(), 0);
  EXPECT_EQ(resources->memory_in_use(), 0);
  EXPECT_THROW(Resources({.threads = 5000}), Exception);
  EXPECT_THROW(Resources({.memory = 0}), Exception);
}

TEST(Resources, TakeNoMoreThanHalfOfWhatTheProcessMayUse) {
  EXPECT_EQ(default_memory(500'000), 250'000);
  EXPECT_EQ(default_memory(0), 1) << "what Resources refuse is never the default";
  EXPECT_EQ(default_memory(uint64_t{1} << 50), 1 << 30);
  EXPECT_EQ(Resources().memory(), default_memory(usable_memory()));
}

}  // namespace
}  // namespace headpond::internal
