// SPDX-License-Identifier: Apache-2.0
// What a dataset says about how it is run, and the program does not.
#include <atomic>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/engine/testing/loader_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

TEST(LoaderDefaults, ThreadsAreThoseOfTheDataset) {
  const auto runs_elsewhere = [](const Step& said, const LoaderOptions& options) {
    const auto elsewhere = std::make_shared<std::atomic<bool>>(false);
    const Dataset dataset = range(2000) | map([elsewhere, here = std::this_thread::get_id()](int64_t x) {
                              busy_us(20);
                              if (std::this_thread::get_id() != here) *elsewhere = true;
                              return x;
                            });
    EXPECT_EQ(loaded(dataset | said, options).size(), 2000U);
    return elsewhere->load();
  };
  EXPECT_FALSE(runs_elsewhere(with_options({.threads = 0}), {}));
  EXPECT_FALSE(runs_elsewhere(with_options({.threads = 2}), {.threads = 0})) << "the program's counts";
  EXPECT_TRUE(runs_elsewhere(with_options({.threads = 0}), {.threads = 2, .consumer_helps = false})) << "control";
}

TEST(LoaderDefaults, MemoryIsThatOfTheDataset) {
  const Dataset dataset = range(6) | batch(2, {.drop_remainder = true}) | with_options({.memory = 15});
  EXPECT_THAT(refused([&] { (void)Loader(dataset); }).message(), HasSubstr("16 bytes, more than the memory of 15"));
  EXPECT_EQ(loaded(dataset, {.memory = 1000}).size(), 3U);
}

// Element 0 is not ready before the program has another one, or `waits` ms have passed.
std::string first_of(const LoaderOptions& options, int64_t waits) {
  const auto gate = std::make_shared<Gate>();
  const auto waiting = [gate](int64_t x) {
    if (x == 0) gate->pass();
    return x;
  };
  Loader loader(range(50) | map(waiting, {.blocking = true}) | with_options({.deterministic = false}) | prefetch(),
                options);
  std::thread opener([&] {
    (void)becomes_true([&] { return gate->open.load(); }, waits);
    gate->open = true;
  });
  const auto first = loader.next();
  gate->open = true;
  opener.join();
  return first ? text_of(first->element()) : first.error().to_string();
}

TEST(LoaderDefaults, AnyOrderIfTheDatasetSaysSo) {
  EXPECT_NE(first_of({.threads = 2}, 20'000), "0");
  EXPECT_EQ(first_of({.threads = 2, .deterministic = true}, 100), "0") << "control: the program's counts";
}

// How many elements were made, `least` or more, when the program has the first batch of four.
int64_t made_of(const Step& last, int64_t run_ahead, int64_t least) {
  const auto made = std::make_shared<std::atomic<int64_t>>(0);
  const auto counted = [made](int64_t x) {
    ++*made;
    return x;
  };
  Loader loader(range(100'000) | map(counted, {.blocking = true}) | batch(4) | last,
                {.threads = 2, .run_ahead = run_ahead, .consumer_helps = false});
  EXPECT_TRUE(loader.next());
  EXPECT_TRUE(becomes_true([&] { return *made >= least; }));
  for (int64_t before = -1; before != *made;) {
    before = *made;
    pause_ms(30);
  }
  return *made;
}

TEST(LoaderDefaults, APrefetchAtTheEndIsACeiling) {
  EXPECT_LE(made_of(prefetch(1), -1, 4), 8);
  EXPECT_GT(made_of(prefetch(1), 20, 9), 8) << "control: the program's counts";
  EXPECT_GT(made_of(prefetch(), -1, 9), 8) << "control: no ceiling";
}

TEST(LoaderDefaults, InputsThatContradictEachOtherAreRefused) {
  const Dataset both =
      zip({range(3) | enumerate() | with_options({.threads = 1}), range(3) | with_options({.threads = 2})});
  EXPECT_THAT(refused([&] { (void)Loader(both); }).message(), HasSubstr("contradict each other"));
  EXPECT_FALSE(refused([&] { (void)Loader(both | with_options({.threads = 2})); }));
}

}  // namespace
}  // namespace headpond::internal
