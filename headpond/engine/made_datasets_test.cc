// SPDX-License-Identifier: Apache-2.0
// Datasets that functions make, of which the Loader makes elements ahead.
#include "headpond/engine/loader.h"
#include "headpond/engine/made_datasets_internal.h"
#include "headpond/engine/testing/contract.h"
#include "headpond/engine/testing/loader_test_internal.h"

namespace headpond::internal {
namespace {

// While this lives, elements of such datasets count as dear if they take so long; 0: all do.
class DearFrom {
 public:
  explicit DearFrom(int64_t ns) : before_(MadeElementTime::dear_ns.exchange(ns)) {}
  ~DearFrom() { MadeElementTime::dear_ns = before_; }
  DearFrom(const DearFrom&) = delete;
  DearFrom& operator=(const DearFrom&) = delete;

 private:
  const int64_t before_;
};
constexpr int64_t kNever = INT64_MAX;

// 10 x, 10 x + 1, ... below 10 x + count, without positions.
Dataset stream_of(int64_t x, int64_t count) {
  return generated(count) |
         map([x](int64_t i) { return 10 * x + i; }, {.name = "from", .version = static_cast<int>(x)});
}
template <class Make>
Dataset nested(int64_t count, const Make& make, int64_t cycle = 3) {
  return range(count) |
         interleave(make, {.cycle_length = cycle, .block_length = 2, .kind = Kind::stream, .name = "made"});
}
Result<int64_t> fails_at_threes(int64_t x) {
  if (x % 10 == 3) return fail(ErrorKind::DataLoss, "three");
  return x;
}

// Of generators, positions, holes, batches, errors, and datasets that open others while they run.
std::vector<Dataset> datasets() {
  const auto failing = [](int64_t x) { return stream_of(x, 5) | map(&fails_at_threes, {.name = "fails"}); };
  return {nested(7, [](int64_t x) { return stream_of(x, x % 4); }),
          nested(5, [](int64_t x) { return range(10 * x, 10 * x + 4) | shuffle(); }),
          nested(5, [](int64_t x) { return range(10 * x, 10 * x + 9) | filter([](int64_t y) { return y % 3 == 0; }); }),
          nested(5, failing),
          nested(4, [](int64_t x) { return stream_of(x, 5) | batch(2, {.drop_remainder = true}); }),
          nested(4, [](int64_t x) { return stream_of(x, 2) | repeat(3); }),
          nested(4,
                 [](int64_t x) {
                   return concatenate({stream_of(x, 2), stream_of(x + 4, 2)});
                 }),
          nested(3, [](int64_t x) { return stream_of(x, 6) | shuffle({.window = 3}); }),
          range(4) | flat_map([](int64_t x) { return stream_of(x, 3); }, {.kind = Kind::stream, .name = "flat"}),
          nested(3, [](int64_t x) { return nested(3, [x](int64_t y) { return stream_of(3 * x + y, 3); }); })};
}

TEST(MadeDatasets, DatasetsThatRunAheadGiveWhatTheyGiveInOrder) {
  const DearFrom all(0);
  for (const Dataset& dataset : datasets()) EXPECT_EQ(contract_violation(dataset), "") << dataset.plan();
}

TEST(MadeDatasets, StatesAreTheSameAheadAndNot) {
  std::vector<Dataset> all = datasets();
  all.push_back(nested(5, [](int64_t x) {  // Errors that a contract plants would be left out.
    return stream_of(x, 5) | map(&fails_at_threes, {.name = "fails"}) | ignore_errors();
  }));
  for (const Dataset& dataset : all) {
    const auto course = [&](int64_t dear_ns) {
      const DearFrom from(dear_ns);
      Loader loader(dataset, {.epochs = 1, .threads = 2});
      std::vector<std::string> all;
      for (bool is_at_end = false; !is_at_end;) {
        const auto next = loader.next();
        is_at_end = at_end(next);
        all.push_back(next ? text_of(next->element()) : next.error().message());
        all.push_back(loader.state());
      }
      return all;
    };
    EXPECT_EQ(course(0), course(kNever)) << dataset.plan();
  }
}

// How many of four generators are in a call at once.
int generators_at_once(int64_t dear_ns, LoaderOptions options = {.threads = 2}) {
  const DearFrom from(dear_ns);
  options.epochs = 1;
  const auto crowd = std::make_shared<Crowd>();
  const auto make = [crowd](int64_t) {
    return generated(
        20, [](uint64_t) {},
        [crowd](int64_t) {
          crowd->enter();
          pause_ms(2);
          crowd->leave();
        });
  };
  Loader loader(range(4) | interleave(make, {.cycle_length = 4, .name = "made"}), options);
  EXPECT_EQ(rest_of(loader).size(), 80U);
  return crowd->most;
}

TEST(MadeDatasets, DearOnesRunAtOnce) {
  EXPECT_TRUE(is_so_in_one_run([] { return generators_at_once(50'000) > 2; }));
  EXPECT_EQ(generators_at_once(kNever), 1) << "control";
  EXPECT_EQ(generators_at_once(0, {.threads = 2, .run_ahead = 0}), 1) << "nothing is made before it is asked for";
  EXPECT_EQ(generators_at_once(0, {.threads = 0}), 1) << "next() makes all";
}

// Of the next epoch a Loader makes some batches early; datasets that end in them do not stay until it begins.
TEST(MadeDatasets, DatasetsOfTheNextEpochGoWhenTheyEnd) {
  constexpr int64_t kCount = 200, kBatch = 20, kCycle = 4;
  struct Made {
    std::atomic<int64_t> all = 0, here = 0, most = 0;
  };
  const DearFrom all(0);
  const auto made = std::make_shared<Made>();
  const auto make = [made](int64_t x) {
    const std::shared_ptr<void> token(made.get(), [made](void*) { --made->here; });
    ++made->all;
    made->most = std::max<int64_t>(made->most, ++made->here);
    return generated(1, [token](uint64_t) {}) | map([x](int64_t) { return x; });
  };
  Loader loader(range(kCount) | interleave(make, {.cycle_length = kCycle, .name = "made"}) | batch(kBatch),
                {.epochs = 2, .threads = 2});
  for (int64_t i = 0; i < kCount / kBatch; ++i) ASSERT_TRUE(loader.next());
  EXPECT_TRUE(becomes_true([&] { return made->all > kCount + kBatch + kCycle; })) << "control: the next epoch is begun";
  EXPECT_LE(made->most, 4 * kCycle);
}

// Threads may be at elements of datasets that have ended, or whose Loader goes.
TEST(MadeDatasets, DatasetsMayBeDroppedWhileThreadsWorkOnThem) {
  const DearFrom all(0);
  const Dataset dataset = nested(
      60,
      [](int64_t x) {
        return stream_of(x, 50) |
               map(
                   [](int64_t y) {
                     if (y % 7 == 0) pause_ms(1);
                     return y;
                   },
                   {.name = "slow", .blocking = true}) |
               take(x % 5);
      },
      8);
  const std::vector<std::string> expected = sequential(dataset, {.epochs = 1});
  for (const int threads : {0, 1, 2, 4}) {
    Loader loader(dataset, {.epochs = 1, .threads = threads});
    EXPECT_EQ(rest(loader), expected) << threads;
    for (int taken = 0; taken < 60; taken += 5) {
      Loader left(dataset, {.threads = threads});
      for (int i = 0; i < taken; ++i) ASSERT_TRUE(left.next());
    }
  }
}

}  // namespace
}  // namespace headpond::internal
