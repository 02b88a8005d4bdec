// SPDX-License-Identifier: Apache-2.0
// Odd inputs and faults that concern the operators and the engine together: sizes at both ends, states that meet
// something else than they were taken from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/engine/loader.h"
#include "headpond/io/array/idx.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;

constexpr int64_t kHuge = int64_t{1} << 40;

std::vector<int64_t> values_of(const Element& element) {
  const auto values = element[0].as<int64_t>();
  return {values.begin(), values.end()};
}
std::vector<int64_t> rest_of(Loader& loader, int64_t batches = -1) {
  std::vector<int64_t> all;
  while (batches-- != 0) {
    const auto next = loader.next();
    EXPECT_TRUE(next || next.error().is_end()) << next.error();
    if (!next) break;
    const auto values = values_of(next->element());
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}
std::string state_after(const Dataset& dataset, const LoaderOptions& options, int batches) {
  Loader loader(dataset, options);
  rest_of(loader, batches);
  return loader.state();
}
Error refusal(const Dataset& dataset, const LoaderOptions& options, const std::string& state) {
  const auto loader = Loader::restored(dataset, options, state);
  return loader ? Error() : loader.error();
}
std::vector<int64_t> sorted(std::vector<int64_t> all) {
  std::sort(all.begin(), all.end());
  return all;
}
std::vector<int64_t> counting(size_t count) {
  std::vector<int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Faults, SetsOfNoneAndOfOneGoThroughEveryOperator) {
  for (const int64_t count : {0, 1}) {
    for (const int threads : {0, 1, 4}) {
      const Dataset all = zip({range(count) | shuffle() | random_u32(),
                               concatenate({range(0), range(count)}) | map([](int64_t x) { return x; })}) |
                          filter([](const Element&) { return true; }) | shuffle(5) | skip(0) | shard(1, 0) | repeat(3) |
                          batch(2);
      Loader loader(all, {.epochs = 2, .threads = threads});
      EXPECT_EQ(rest_of(loader).size(), static_cast<size_t>(6 * count)) << count << " on " << threads;
    }
  }
}

TEST(Faults, AShuffleOfMoreElementsThanMemoryHasBeginsAtOnceAndIsRestored) {
  const Dataset huge = range(kHuge) | shuffle() | batch(64);
  for (const int threads : {0, 4}) {
    const LoaderOptions options{.seed = 3, .threads = threads};
    Loader whole(huge, options);
    const auto all = rest_of(whole, 8);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 512U) << "none comes twice";
    EXPECT_GT(*std::max_element(all.begin(), all.end()), int64_t{1} << 38);
    auto restored = Loader::restored(huge, options, state_after(huge, options, 3));
    ASSERT_TRUE(restored);
    EXPECT_EQ(rest_of(*restored, 5), std::vector(all.begin() + 3 * 64, all.end()));
  }
}

TEST(Faults, PlacesBeyond32BitsAreReached) {
  const Dataset far = range(kHuge) | skip(kHuge - 10) | take(100) | batch(4);
  Loader loader(far);
  const auto all = rest_of(loader);
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all.front(), kHuge - 10);
  EXPECT_EQ(all.back(), kHuge - 1);
}

TEST(Faults, AWindowThatIsLargerThanTheDataHoldsAllOfIt) {
  for (const int64_t window : {100, 101, 1'000'000}) {
    Loader loader(range(100) | shuffle(window) | batch(7));
    const auto all = rest_of(loader);
    EXPECT_EQ(sorted(all), counting(100)) << window;
    EXPECT_NE(all, counting(100)) << window;
  }
}

TEST(Faults, SeedZeroIsASeedLikeAnyOther) {
  std::set<std::vector<int64_t>> orders;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
    Loader once(range(50) | shuffle() | batch(50), {.seed = seed}),
        twice(range(50) | shuffle() | batch(50), {.seed = seed});
    const auto order = rest_of(once);
    EXPECT_EQ(rest_of(twice), order);
    EXPECT_EQ(sorted(order), counting(50));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 3U);
}

TEST(Faults, AStateOfAnotherShardIsRefusedWithTheDifference) {
  const auto share = [](int64_t count, int64_t index) {
    return range(100) | shuffle() | shard(count, index) | batch(5);
  };
  const std::string state = state_after(share(4, 1), {}, 2);
  EXPECT_FALSE(refusal(share(4, 1), {}, state)) << "control: the same shard goes on";
  for (const auto& other : {share(4, 2), share(2, 1)}) {
    const Error error = refusal(other, {}, state);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(error.message(), HasSubstr("shard(num_shards=4, index=1)"));
  }
}

TEST(Faults, AStateMeetsAFileThatGrew) {
  const test::TempFolder folder;
  const std::string path = folder.file("labels");
  const auto write = [&](uint8_t count) {
    std::vector<uint8_t> labels;
    for (uint8_t label = 0; label < count; ++label) labels.push_back(label);
    ASSERT_TRUE(write_idx(path, Tensor::from(std::span<const uint8_t>(labels), {count})));
  };
  const auto pipeline = [&] { return idx(path) | shuffle() | map([](uint8_t x) { return int64_t{x}; }) | batch(3); };
  write(20);
  const std::string state = state_after(pipeline(), {}, 2);
  EXPECT_FALSE(refusal(pipeline(), {}, state)) << "control: the same file goes on";
  write(21);
  const Error error = refusal(pipeline(), {}, state);
  ASSERT_TRUE(error);
  EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(error.message(), HasSubstr(path));
}

TEST(Faults, AStateIsTakenTwiceAndRightAfterARestore) {
  const Dataset dataset = range(40) | shuffle() | filter([](int64_t x) { return x % 3 != 0; }) | batch(4);
  const LoaderOptions options{.epochs = 2, .seed = 8, .threads = 4};
  Loader whole(dataset, options);
  const auto all = rest_of(whole);
  for (int batches = 0; batches <= 14; ++batches) {
    const std::string state = state_after(dataset, options, batches);
    auto first = Loader::restored(dataset, options, state);
    ASSERT_TRUE(first) << batches;
    EXPECT_EQ(first->state(), state) << batches;
    EXPECT_EQ(first->state(), state) << batches;
    auto second = Loader::restored(dataset, options, first->state());
    ASSERT_TRUE(second) << batches;
    const auto rest = rest_of(*second);
    EXPECT_TRUE(std::equal(rest.rbegin(), rest.rend(), all.rbegin())) << batches;
    EXPECT_EQ(rest.size(), static_cast<size_t>(std::max(0, 52 - 4 * batches + (batches > 6 ? 2 : 0)))) << batches;
  }
}

}  // namespace
}  // namespace headpond
