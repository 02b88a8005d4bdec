// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/loader.h"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <set>
#include <thread>
#include <utility>

#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond {
namespace {

using internal::text_of;

template <class Name>
constexpr bool kBatchTakesTwoNames = requires(const Batch& batch, Name name) {
  batch[{name, name}];
};
static_assert(!kBatchTakesTwoNames<const char*>);

std::vector<std::string> rest(Loader& loader) {
  std::vector<std::string> all;
  for (int errors = 0; errors < 100;) {
    const auto batch = loader.next();
    if (at_end(batch)) break;
    all.push_back(batch ? text_of(batch->element()) : "!" + batch.error().to_string());
    if (!batch) ++errors;
  }
  return all;
}

std::vector<std::string> batches(const Dataset& dataset, const LoaderOptions& options) {
  Loader loader(dataset, options);
  return rest(loader);
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

// The first element of each ten takes long.
int64_t uneven(int64_t x) {
  if (x % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  return x;
}

// A temporary's epochs would outlive it.
template <class L>
concept HasEpochs = requires(L&& loader) { std::forward<L>(loader).epochs(); };
static_assert(HasEpochs<Loader&> && !HasEpochs<Loader>);
static_assert(std::ranges::input_range<Loader&>);

TEST(Loader, ManyMapsInARowDoNotExhaustTheStack) {
  Dataset many = range(5);
  for (int i = 0; i < 600; ++i) many = many | map([](int64_t x) { return x + 1; }, {.name = "plus_one"});
  for (const int threads : {0, 2}) {
    EXPECT_THAT(batches(many | batch(3), {.threads = threads}), testing::ElementsAre("[600 601 602]", "[603 604]"));
  }
}

TEST(Loader, GivesWhatTheSequenceGives) {
  const Dataset dataset = range(100) | shuffle() | map([](int64_t x) { return x * x; }) | batch(7);
  for (const int threads : {0, 1, 2, 4}) {
    EXPECT_EQ(batches(dataset, {.epochs = 3, .seed = 5, .threads = threads}),
              internal::elements(dataset, {.seed = 5, .epochs = 3}));
  }
}

TEST(Loader, InAnyOrderGivesTheSameElements) {
  const LoaderOptions any{.epochs = 2, .threads = 4, .deterministic = false};
  const LoaderOptions ordered{.epochs = 2, .threads = 4};
  for (const Dataset& dataset : {range(60) | map(&uneven, {.blocking = true}), range(60) | map(&uneven) | batch(7),
                                 range(60) | map(&uneven) | batch(7, {.drop_remainder = true})}) {
    EXPECT_EQ(sorted(batches(dataset, any)), sorted(batches(dataset, ordered))) << dataset.plan();
  }
  const auto gate = std::make_shared<internal::Gate>();
  const auto first_waits = [gate](int64_t x) {
    if (x == 0) gate->pass();
    return x;
  };
  Loader loader(range(60) | map(first_waits, {.blocking = true}), any);
  EXPECT_NE(text_of(loader.next()->element()), "0") << "what is slow does not hold up the rest";
  gate->open = true;
  EXPECT_EQ(rest(loader).size(), 119U);
}

TEST(Loader, InAnyOrderTellsEachErrorAndLosesNoNeighbour) {
  const auto odd = [](int64_t x) -> Result<int64_t> {
    if (x % 7 == 3) return fail(ErrorKind::DataLoss, "bad");
    return uneven(x);
  };
  Loader loader(range(40) | map(odd) | batch(5), {.threads = 4, .deterministic = false});
  int errors = 0;
  std::set<int64_t> seen;
  for (auto batch = loader.next(); !at_end(batch); batch = loader.next()) {
    if (!batch) ++errors;
    if (!batch) continue;
    for (const int64_t x : (*batch)[0].as<int64_t>()) EXPECT_TRUE(seen.insert(x).second) << x << " came twice";
  }
  EXPECT_EQ(errors, 6);
  for (int64_t x = 0; x < 40; ++x) EXPECT_EQ(seen.contains(x), x % 7 != 3) << x;
}

TEST(Loader, InAnyOrderARestoredOneGivesTheRest) {
  const Dataset dataset = range(80) | map(&uneven, {.blocking = true}) | batch(2);
  const LoaderOptions options{.epochs = 2, .threads = 4, .deterministic = false};
  for (const int before : {0, 1, 7, 39, 40, 41, 79}) {
    Loader loader(dataset, options);
    std::vector<std::string> all;
    all.reserve(80);
    for (int i = 0; i < before; ++i) all.push_back(text_of(loader.next()->element()));
    auto restored = Loader::restored(dataset, options, loader.state());
    ASSERT_TRUE(restored) << restored.error().to_string();
    EXPECT_EQ(restored->state(), loader.state());
    for (const auto& text : rest(*restored)) all.push_back(text);
    EXPECT_EQ(sorted(all), sorted(batches(dataset, {.epochs = 2}))) << "after " << before;
  }
}

}  // namespace
}  // namespace headpond
