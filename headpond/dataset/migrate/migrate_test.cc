// SPDX-License-Identifier: Apache-2.0
// HEADPOND_PLANS sets another number of pipelines; each is named by its number, from which it follows.
#include "headpond/dataset/migrate/migrate.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"
#include "headpond/dataset/testing/training_plan_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

uint64_t plans(uint64_t usual) {
  const char* const given = std::getenv("HEADPOND_PLANS");
  return given == nullptr ? usual : static_cast<uint64_t>(std::atoll(given));
}

// What a run gives whose plan changes after `count` elements.
struct Changed {
  Changed(const Dataset& then, const Dataset& now, int64_t count, uint64_t seed = 7) {
    Sequence old = run_of_epoch(then, seed, 0);
    before = samples(old, count);
    auto migrated = migrate(old.state(), then, now);
    if (!migrated) {
      refused = migrated.error().to_string();
      return;
    }
    report = to_string(*migrated);
    Sequence rest = run_of_epoch(now, seed, 0, migrated->state);
    after = samples(rest);
  }
  std::vector<int64_t> before, after;
  std::string report, refused;
};

Step augment(const std::string& name) { return random_u32({.field = name, .name = name}); }
Dataset numbers(int64_t first, int64_t count) { return range(first, first + count); }
std::vector<int64_t> ids_from(int64_t first, int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

TEST(Migrate, ABatchSizeGoesOnAtTheFirstSampleThatWasNotDelivered) {
  const Changed run(numbers(0, 10) | batch(2), numbers(0, 10) | batch(3), 2);
  EXPECT_THAT(run.before, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(run.after, ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_EQ(run.report,
            "carried  range(start=0, stop=10, step=1): goes on at position 4 of 10\n"
            "anew     batch(batch_size=3, drop_remainder=false): applies to the rest of this epoch, replacing "
            "batch(batch_size=2, drop_remainder=false)\n");
}

TEST(Migrate, BatchesKeepTheirNumbers) {
  const Dataset then = numbers(0, 10) | batch(2), now = numbers(0, 10) | batch(4);
  Sequence old = run_of_epoch(then, 7, 0);
  (void)samples(old, 3);
  Sequence rest = run_of_epoch(now, 7, 0, migrate(old.state(), then, now).value().state);
  EXPECT_EQ(rest.next()->key, batch_key(3)) << "keys of this epoch's batches differ";
  EXPECT_EQ(rest.index(), 3);
}

TEST(Migrate, WeightsLeaveEachInputWhereItIs) {
  const std::vector<Dataset> inputs = {numbers(0, 6), numbers(100, 6)};
  for (const auto& join : {+[](const std::vector<Dataset>& all, double weight) {
                             return mix(all, {1, weight});
                           },
                           +[](const std::vector<Dataset>& all, double weight) {
                             return sample_from_datasets(all, {1, weight});
                           }}) {
    const Changed run(join(inputs, 1) | augment("a") | batch(2), join(inputs, 5) | augment("a") | batch(2), 2);
    EXPECT_EQ(run.refused, "");
    std::vector<int64_t> all = run.before;
    all.insert(all.end(), run.after.begin(), run.after.end());
    std::vector<int64_t> low, high;
    for (const int64_t id : all) (id < 100 ? low : high).push_back(id);
    EXPECT_TRUE(std::is_sorted(low.begin(), low.end())) << run.report;
    EXPECT_THAT(high, ElementsAre(100, 101, 102, 103, 104, 105)) << run.report;
  }
}

TEST(Migrate, AMixIsReadInOrderOnlyUntilTheEpochEnds) {
  const std::vector<Dataset> inputs = {numbers(0, 6), numbers(100, 6)};
  const Dataset then = mix(inputs) | batch(2), now = mix(inputs, {1, 2}) | batch(2);
  Sequence old = run_of_epoch(then, 7, 0);
  (void)samples(old, 2);
  const auto migrated = migrate(old.state(), then, now);
  ASSERT_TRUE(migrated) << migrated.error();
  auto rest = Sequence::restored(now, {.seed = 7, .epochs = 2}, migrated->state);
  ASSERT_TRUE(rest) << rest.error();
  EXPECT_EQ(rest->state().substr(0, 4), "hps2");
  while (rest->next() && rest->epoch() == 0) EXPECT_EQ(rest->state().substr(0, 4), "hps2");
  EXPECT_EQ(rest->state().substr(0, 4), "hps1");
  Sequence plain = run_of_epoch(now, 7, 1);
  (void)plain.next();
  EXPECT_EQ(rest->state(), plain.state()) << "the next epoch is that of the new plan";
}

TEST(Migrate, AnAddedInputBeginsAndOthersGoOn) {
  const Dataset a = numbers(0, 3), b = numbers(100, 3), c = numbers(200, 2);
  const Changed run(concatenate({a, b}) | batch(2), concatenate({a, b, c}) | batch(2), 2);
  EXPECT_THAT(run.before, ElementsAre(0, 1, 2, 100));
  EXPECT_THAT(run.after, ElementsAre(101, 102, 200, 201)) << run.report;
  EXPECT_THAT(run.report, HasSubstr("anew     range(start=200, stop=202, step=1): begins at its start\n"));
  EXPECT_THAT(Changed(concatenate({a, b}), concatenate({c, a, b}), 4).refused,
              HasSubstr("has begun, and range(start=200, stop=202, step=1) stands before it: put new inputs last"));
  EXPECT_THAT(Changed(a | batch(1), concatenate({a, c}) | batch(1), 2).after, ElementsAre(2, 200, 201));
}

TEST(Migrate, AnInputThatWasDeliveredMustNotGrow) {
  const Dataset few = numbers(0, 10) | take(3), b = numbers(100, 3);
  EXPECT_THAT(Changed(concatenate({few, b}), concatenate({numbers(0, 10), b}), 4).refused,
              HasSubstr("range(start=0, stop=10, step=1) was delivered as range(start=0, stop=10, step=1) | take("));
  EXPECT_THAT(
      Changed(concatenate({numbers(0, 3) | repeat(1), b}), concatenate({numbers(0, 3) | repeat(2), b}), 4).refused,
      HasSubstr("was delivered as"));
  EXPECT_THAT(Changed(concatenate({few, b}), concatenate({few | random_u32(), b | random_u32()}), 4).after,
              ElementsAre(101, 102));
}

TEST(Migrate, ARemovedInputIsNamedWithWhatWasNotDelivered) {
  const Dataset a = numbers(0, 4), b = numbers(100, 8);
  const Changed run(mix({a, b}), mix(std::vector<Dataset>{a}), 4);
  EXPECT_THAT(run.before, ElementsAre(0, 100, 1, 101));
  EXPECT_THAT(run.after, ElementsAre(2, 3));
  EXPECT_THAT(run.report, HasSubstr("never    range(start=100, stop=108, step=1): is not in the new plan, and was at "
                                    "position 2 of 8 (6 samples)\n"));
  EXPECT_THAT(Changed(mix({a, b}), a, 4).after, ElementsAre(2, 3));
}

TEST(Migrate, AShuffleKeepsItsOrderAndDrawsStay) {
  const Dataset then = numbers(0, 20) | shuffle() | augment("a"), now = then | augment("b") | batch(3);
  Sequence old = run_of_epoch(then, 7, 0), whole = run_of_epoch(now, 7, 0);
  (void)samples(old, 6);
  Sequence rest = run_of_epoch(now, 7, 0, migrate(old.state(), then, now).value().state);
  (void)samples(whole, 2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(text_of(*rest.next()), text_of(*whole.next())) << "draws included";
}

TEST(Migrate, RefusesWhatItCannotSayAndNamesTheOperator) {
  const Dataset few = numbers(0, 20), more = numbers(0, 30);
  const auto lengths = [](int64_t x) { return x % 3; };
  const Step some = filter([](const Tensor& batch) { return batch.size() == 8; }, {.name = "some"});
  const std::vector<std::tuple<Dataset, Dataset, std::string>> cases = {
      {few | shuffle(), more | shuffle(), "shuffle(window=all) has another input: the old plan has range"},
      {few, more, "range(start=0, stop=30, step=1): the old plan"},
      {few | shuffle(), few | shuffle(4),
       "the old plan has shuffle(window=all) where the new one has shuffle(window=4)"},
      {few, few | shuffle(), "range"},
      {few | skip(1), few | skip(2), "skip(count=2)"},
      {few | as_stream() | shuffle(4), few | as_stream() | prefetch() | shuffle(4), "shuffle(window=4): it keeps"},
      {mix({few, more}) | bucket_by_sequence_length(lengths, {1}, {2, 2}, {.name = "n"}),
       mix({few, more}, {1, 3}) | bucket_by_sequence_length(lengths, {1}, {2, 2}, {.name = "n"}), "bucket_by"},
      {concatenate({numbers(0, 3), few}) | bucket_by_sequence_length(lengths, {1}, {9, 9}, {.name = "n"}),
       concatenate(std::vector<Dataset>{few}) | bucket_by_sequence_length(lengths, {1}, {9, 9}, {.name = "n"}),
       "it holds elements by their positions in its input, which has changed"},
      {few | take(10), few | take(3), "take(count=3): 5 of its elements were delivered"},
      {few | as_stream() | take(10), few | as_stream() | take(4), "take(count=4): 5 of its elements were delivered"},
      {few | take(10), few | batch(8) | take(10), "5 of its elements were delivered, and its input has 3"},
      {few | take(10), few | batch(8) | some | take(10), "delivered, and its input has at most 3"},
  };
  for (const auto& [then, now, why] : cases) {
    const Changed run(then, now, then.node()->facts().role == Role::batch ? 1 : 5);
    EXPECT_THAT(run.refused, HasSubstr("FailedPrecondition: migrate: ")) << now.plan() << run.report;
    EXPECT_THAT(run.refused, HasSubstr(why)) << now.plan();
  }
}

TEST(Migrate, HeldElementsStayHeldIfPositionsDo) {
  const auto plan = [](bool augments) {
    const Dataset all = numbers(0, 30) | shuffle();
    return (augments ? all | filter([](int64_t) { return true; }, {.name = "all"}) : all) |
           bucket_by_sequence_length([](int64_t x) { return x % 7; }, {2, 4}, {3, 4, 5}, {.name = "seventh"});
  };
  const Dataset then = plan(true), now = plan(true) | prefetch();
  Sequence whole = run_of_epoch(then, 7, 0);
  const auto all = samples(whole);
  const Changed same(then, now, 3), other(plan(false), plan(true), 3);
  EXPECT_EQ(same.refused + other.refused, "");
  for (const Changed* run : {&same, &other}) {
    auto joined = run->before;
    joined.insert(joined.end(), run->after.begin(), run->after.end());
    EXPECT_EQ(joined, all);
  }
}

TEST(Migrate, AFilterThatIsAddedBelowAppliesToHeldElements) {
  const auto length = [](int64_t x) { return x % 7; };
  const auto plan = [&](bool filters, bool by_size) {
    const Dataset all = numbers(0, 40) | shuffle();
    const Dataset some = filters ? all | filter([](int64_t x) { return x % 4 != 1; }, {.name = "some"}) : all;
    return by_size ? some | batch_by_size(12, length, {.name = "n"})
                   : some | bucket_by_sequence_length(length, {2, 4}, {5, 5, 5}, {.name = "n"});
  };
  for (const bool by_size : {false, true}) {
    for (int taken = 1; taken < 5; ++taken) {
      const Changed run(plan(false, by_size), plan(true, by_size), taken);
      ASSERT_EQ(run.refused, "");
      std::set<int64_t> before(run.before.begin(), run.before.end()), expected;
      for (const int64_t x : ids_from(0, 40)) {
        if (x % 4 != 1 && !before.contains(x)) expected.insert(x);
      }
      EXPECT_EQ(std::set<int64_t>(run.after.begin(), run.after.end()), expected) << taken << run.report;
      EXPECT_EQ(run.after.size(), expected.size()) << "each once";
    }
  }
}

TEST(Migrate, HeldElementsGoToBucketsOfOtherSizes) {
  const auto size = [](int64_t x) { return x % 7; };
  for (const Dataset& source : {numbers(0, 40) | shuffle(), numbers(0, 40) | as_stream()}) {
    const auto buckets = [&](const std::vector<int64_t>& sizes) {
      return source | bucket_by_sequence_length(size, {2, 4}, sizes, {.name = "seventh"});
    };
    const std::vector<Dataset> others = {buckets({2, 1, 1}), buckets({9, 9, 9}),
                                         source | batch_by_size(10, size, {.name = "seventh"})};
    for (const Dataset& now : others) {
      const Changed run(buckets({5, 4, 5}), now, 3);
      EXPECT_EQ(run.refused, "");
      auto all = run.before;
      all.insert(all.end(), run.after.begin(), run.after.end());
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, ids_from(0, 40)) << run.report;
    }
    EXPECT_THAT(Changed(buckets({5, 4, 5}), source | batch(4), 3).refused, HasSubstr("holds would be lost"));
  }
}

TEST(Migrate, ARefusedEpochMayBeginAgainOrEnd) {
  const Dataset then = numbers(0, 20) | shuffle(), now = numbers(0, 30) | shuffle();
  Sequence old(then, {.seed = 7, .epochs = 2});
  (void)samples(old, 5);
  const auto again = migrate(old.state(), then, now, IfRefused::restart_epoch);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->steps.back().kind, MigrationKind::twice);
  EXPECT_EQ(again->steps.back().elements, 5);
  Sequence first = run_of_epoch(now, 7, 0, again->state);
  EXPECT_EQ(samples(first).size(), 30U);
  const auto next = migrate(old.state(), then, now, IfRefused::next_epoch);
  ASSERT_TRUE(next) << next.error();
  EXPECT_EQ(next->steps.back().kind, MigrationKind::never);
  EXPECT_EQ(next->steps.back().elements, 15);
  Sequence second = run_of_epoch(now, 7, 1, next->state), plain = run_of_epoch(now, 7, 1);
  EXPECT_EQ(samples(second), samples(plain));
}

TEST(Migrate, CountsSamplesAndNotBatchesThatComeTwiceOrNever) {
  const auto is_small = [](int64_t x) { return x < 15; };
  const auto counts = [](const Dataset& then) {
    const Dataset now = then | shuffle({.window = 2});
    Sequence old(then, {.seed = 7});
    for (int i = 0; i < 3; ++i) (void)old.next();
    const auto again = migrate(old.state(), then, now, IfRefused::restart_epoch).value();
    const auto next = migrate(old.state(), then, now, IfRefused::next_epoch).value();
    return std::pair(again.steps.back().elements, next.steps.back().elements);
  };
  EXPECT_EQ(counts(numbers(0, 20) | batch(4)), std::pair(int64_t{12}, int64_t{8}));
  EXPECT_EQ(counts(numbers(0, 20) | shuffle() | batch(4) | random_u32({.field = "draw"})),
            std::pair(int64_t{12}, int64_t{8}));
  EXPECT_EQ(counts(numbers(0, 20) | filter(is_small)), std::pair(int64_t{3}, int64_t{-1}));
  EXPECT_EQ(counts(numbers(0, 20) | filter(is_small) | batch(4)), std::pair(int64_t{-1}, int64_t{-1})) << "unknown";
  EXPECT_EQ(to_string(Migration{"", {{MigrationKind::never, "a", "b", 1}, {MigrationKind::twice, "a", "b", 2}}}),
            "never    a: b (1 sample)\ntwice    a: b (2 samples)\n");
}

// Gives the elements of its input from `first` on, then those before it.
class OwnRotation final : public Node {
 public:
  OwnRotation(const Ref& input, const std::string& op, int64_t first)
      : Node(facts_over(input, op, fmt::format("count={}", first), input->spec())), first_(first) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    const auto rotated = [first = first_, slots = slots()](int64_t i) { return (i + first) % slots; };
    return std::make_shared<PositionMap<decltype(rotated)>>(*this, view_of(input(), binding), rotated);
  }

 private:
  const int64_t first_;
};

TEST(Migrate, GoesByTheNamesOfItsOwnOperatorsOnly) {
  for (const std::string op :
       {"take", "enumerate", "ignore_errors", "assert_cardinality", "skip", "repeat", "rotate"}) {
    const auto rotated = [&](int64_t first) {
      return Dataset(std::make_shared<OwnRotation>(numbers(0, 8).node(), op, first)) | batch(2);
    };
    Sequence old(rotated(2), {.seed = 7});
    (void)samples(old, 2);
    const auto migrated = migrate(old.state(), rotated(2), rotated(3));
    ASSERT_FALSE(migrated) << op << "\n" << *migrated;
    EXPECT_EQ(migrated.error().kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(migrated.error().message(), HasSubstr("the samples at a position may be others")) << op;
    EXPECT_FALSE(migrate(old.state(), rotated(2), numbers(0, 8) | take(4) | batch(2))) << op;
  }
  Sequence old(numbers(0, 8) | take(6) | batch(2), {.seed = 7});
  (void)samples(old, 2);
  EXPECT_TRUE(migrate(old.state(), numbers(0, 8) | take(6) | batch(2), numbers(0, 8) | take(7) | batch(2)))
      << "control";
}

TEST(Migrate, SaysWhyAnotherOrderOrNumberOfRoundsIsRefused) {
  const auto why = [](const Step& then, const Step& now) {
    Sequence old(numbers(0, 8) | then | batch(2), {.seed = 7});
    (void)samples(old, 2);
    return migrate(old.state(), numbers(0, 8) | then | batch(2), numbers(0, 8) | now | batch(2)).error().message();
  };
  EXPECT_THAT(why(shuffle({.window = 3}), shuffle({.window = 4})), HasSubstr("what was delivered lies scattered"));
  EXPECT_THAT(why(shuffle(), prefetch()), HasSubstr("what was delivered lies scattered"));
  EXPECT_THAT(why(prefetch(), shuffle()), HasSubstr("what was delivered lies scattered"));
  EXPECT_THAT(why(repeat(2), repeat(3)), HasSubstr("rounds are numbered through all epochs"));
  EXPECT_THAT(why(skip(1), skip(2)), HasSubstr("it numbers samples from the beginning"));
}

TEST(Migrate, BetweenEpochsNeedsNoOldPlan) {
  const Dataset then = numbers(0, 4), now = numbers(0, 9) | shuffle();
  Sequence old(then, {.seed = 7, .epochs = 1});
  (void)samples(old, 2);
  EXPECT_THAT(migrate(old.state(), now).error().message(), HasSubstr("within an epoch the old plan is needed"));
  EXPECT_EQ(migrate(old.state(), then).value().state, old.state());
  (void)samples(old);
  const auto migrated = migrate(old.state(), now);
  ASSERT_TRUE(migrated) << migrated.error();
  Sequence next = run_of_epoch(now, 7, 1, migrated->state), plain = run_of_epoch(now, 7, 1);
  EXPECT_EQ(samples(next), samples(plain));
}

// Zipped with itself again and again. Each height has another operator if `version` is 0.
Dataset stacked(int times, int version) {
  Dataset high = numbers(0, 8);
  for (int i = 0; i < times; ++i) {
    const MapOptions options{.name = "first", .version = version != 0 ? version : i};
    high = zip({high, high}) | map([](int64_t first, int64_t) { return first; }, options);
  }
  return high | batch(2);
}

TEST(Migrate, SaysOnceWhatIsUsedVeryOften) {
  const auto report = [](int times, int then, int now) {
    const Changed run(stacked(times, then), stacked(times, now), 2);
    EXPECT_EQ(run.refused, "");
    EXPECT_EQ(run.after, ids_from(4, 4));
    return run.report;
  };
  EXPECT_EQ(report(1, 1, 2),
            "carried  zip(inputs=2) | map(first, version=2): goes on at position 4 of 8\n"
            "anew     map(first, version=2): applies to the rest of this epoch, replacing map(first, version=1)\n");
  EXPECT_THAT(report(3, 1, 2), HasSubstr("to the rest of this epoch, 7 uses, replacing map(first, version=1)\n"));
  EXPECT_THAT(report(3, 1, 0),
              HasSubstr("anew     map(first, version=0): applies to the rest of this epoch, 4 uses, replacing map("))
      << "control: the lowest of three";
  const std::string high = report(12, 1, 2);
  EXPECT_THAT(high, HasSubstr("this epoch, 4095 uses, replacing map(first, version=1)\n"));
  EXPECT_EQ(std::ranges::count(high, '\n'), 2);
}

// Where each use was looked at these would not end.
TEST(Migrate, OfAPlanThatNoRunCanOpenIsRefusedWithinAnEpoch) {
  const Dataset low = stacked(1, 1), high = stacked(40, 1);
  Sequence run(low, {.seed = 7, .epochs = 1});
  (void)samples(run, 2);
  const auto refused = migrate(run.state(), low, high);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("a run would open 3298534883327 operators"));
  (void)samples(run);
  EXPECT_EQ(migrate(run.state(), high).value().steps,
            std::vector<MigrationStep>({{MigrationKind::anew, "the plan", "begins with epoch 1"}}));
}

TEST(Migrate, StatesOfOthersAreRefused) {
  const Dataset a = numbers(0, 4), b = numbers(0, 9);
  Sequence of_a(a, {.seed = 7});
  (void)samples(of_a, 1);
  EXPECT_EQ(migrate(of_a.state(), b, a).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(migrate("hps1 damaged", a, b).error().kind(), ErrorKind::DataLoss);
  std::string cut = of_a.state();
  cut.pop_back();
  EXPECT_EQ(migrate(cut, a, b).error().kind(), ErrorKind::DataLoss);
}

// ---- random plans

struct Epoch {
  std::vector<TrainingSet> sets;
  std::vector<int64_t> delivered;
  std::vector<MigrationStep> told;
  TrainingPlan last;
  std::string refused, text;
};

// An epoch in which the plan changes a few times, after any numbers of elements.
Epoch random_epoch(Random& random, uint64_t seed, int64_t number) {
  Epoch epoch;
  TrainingPlan plan = random_training_plan(random);
  epoch.sets = plan.sets;
  epoch.last = plan;
  Sequence run = run_of_epoch(plan.dataset(), seed, number);
  const uint64_t changes = 1 + random.below(3);
  for (uint64_t i = 0; i < changes; ++i) {
    const auto some = samples(run, static_cast<int64_t>(random.below(12)));
    epoch.delivered.insert(epoch.delivered.end(), some.begin(), some.end());
    const std::string state = run.state();
    if (read_state(state)->state.epoch != static_cast<uint64_t>(number)) break;  // The end was seen.
    const TrainingPlan next = changed(random, plan);
    epoch.text += fmt::format("{}after {}:\n", plan.dataset().plan(), epoch.delivered.size());
    auto migrated = migrate(state, plan.dataset(), next.dataset());
    epoch.last = next;
    if (!migrated) {
      epoch.refused = migrated.error().to_string();
      return epoch;
    }
    epoch.text += to_string(*migrated);
    epoch.told.insert(epoch.told.end(), migrated->steps.begin(), migrated->steps.end());
    for (const TrainingSet& set : next.sets) {
      if (set.number >= plan.next_number) epoch.sets.push_back(set);
    }
    if (epoch.delivered.empty()) epoch.sets = next.sets;  // Nothing is lost where nothing has begun.
    plan = next;
    run = run_of_epoch(plan.dataset(), seed, number, migrated->state);
  }
  const auto rest = samples(run);
  epoch.delivered.insert(epoch.delivered.end(), rest.begin(), rest.end());
  return epoch;
}

// A mix ends where one of its sets does; the other plans deliver all.
std::string violation_of(const Epoch& epoch, uint64_t seed, int64_t number) {
  const bool all = epoch.last.join != TrainingPlan::mixed;
  const bool sorted = epoch.last.bucket > 0;
  std::string what = epoch_violation(epoch.sets, epoch.delivered, seed, number, all, epoch.told, sorted);
  if (all || !what.empty()) return what;
  for (const TrainingSet& set : epoch.last.sets) {
    if (epoch_violation({set}, epoch.delivered, seed, number, true, {}, sorted).empty()) return "";
  }
  return "the mix ended before one of its sets";
}

TEST(MigrateRandomPlans, DeliverEachSampleOnceButForWhatIsNamed) {
  int refused = 0, refused_over_buckets = 0;
  for (uint64_t number = 0; number < plans(400); ++number) {
    Random random(number);
    const auto in_epoch = static_cast<int64_t>(random.below(2));
    const Epoch epoch = random_epoch(random, number, in_epoch);
    SCOPED_TRACE(fmt::format("plan {}:\n{}", number, epoch.text));
    if (!epoch.refused.empty()) {
      ++(epoch.last.bucket > 0 ? refused_over_buckets : refused);
      EXPECT_THAT(epoch.refused, HasSubstr("bucket_by_sequence_length"));
    } else {
      EXPECT_EQ(violation_of(epoch, number, in_epoch), "");
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(refused, 0);
  std::cout << refused_over_buckets << " refused, as buckets hold elements\n";
}

// Controls: what a migration that forgets one thing would deliver.
TEST(MigrateRandomPlans, AreRejectedIfOneThingIsForgotten) {
  std::map<std::string, int> tried, rejected;
  const auto count = [&](const std::string& what, const Epoch& epoch, uint64_t number) {
    ++tried[what];
    if (!violation_of(epoch, number, 0).empty()) ++rejected[what];
  };
  for (uint64_t number = 0; number < 200; ++number) {
    Random random(number);
    const Epoch good = random_epoch(random, number, 0);
    if (!good.refused.empty() || good.delivered.size() < 4 || good.last.join == TrainingPlan::mixed) continue;
    ASSERT_EQ(violation_of(good, number, 0), "") << good.text;
    Epoch lost = good, twice = good, swapped = good, silent = good;
    lost.delivered.erase(lost.delivered.begin() + static_cast<int64_t>(random.below(lost.delivered.size())));
    count("a sample is lost", lost, number);
    const auto at = static_cast<int64_t>(random.below(twice.delivered.size()));
    twice.delivered.push_back(twice.delivered[static_cast<size_t>(at)]);
    count("a sample comes twice", twice, number);
    silent.told.clear();
    if (std::any_of(good.told.begin(), good.told.end(), [](const MigrationStep& step) { return step.elements > 0; }))
      count("a loss is not named", silent, number);
  }
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(rejected, tried);
}

TEST(MigrateRandomPlans, AnInputThatBeginsAgainIsRejected) {
  const TrainingSet a{.number = 0, .size = 9, .window = 4}, b{.number = 1, .size = 9, .window = 4};
  const TrainingPlan plan{.sets = {a, b}, .join = TrainingPlan::sampled, .batch = 2};
  const Dataset then = plan.dataset();
  const auto with = [&](const Dataset& second) {
    return sample_from_datasets({dataset_of(a), second}, {1, 3}) | batch(3);
  };
  const auto deliver = [&](const Dataset& now) {
    Sequence old = run_of_epoch(then, 7, 0);
    auto all = samples(old, 5);
    const auto migrated = migrate(old.state(), then, now);
    if (!migrated) throw Exception(migrated.error());
    Sequence rest = run_of_epoch(now, 7, 0, migrated->state);
    const auto more = samples(rest);
    all.insert(all.end(), more.begin(), more.end());
    return epoch_violation({a, b}, all, 7, 0, true, {});
  };
  EXPECT_EQ(deliver(with(dataset_of(b))), "");
  const Dataset under_another_name = from_tensor_slices(Tensor::from(ids_from(1000, 9), {9})) | shuffle(4);
  EXPECT_THAT(deliver(with(under_another_name)), HasSubstr("set 1: came"));
}

// ---- all operators

// The plan and the same one with a hint within it: all that is above the hint has another input.
TEST(MigrateRandomPlans, OfAllOperatorsGoOnExactlyOrAreRefused) {
  uint64_t carried = 0;
  const uint64_t count = plans(300);
  for (uint64_t number = 0; number < count; ++number) {
    Random random(number), same(number);
    const int depth = 1 + static_cast<int>(number % 5);
    PlanChoice choice{.errors = number % 3 == 0};
    Dataset then = random_plan(random, depth, choice);
    choice.hint_after = static_cast<int>(number / 5) % depth;
    Dataset hinted = random_plan(same, depth, choice);
    if (number % 2 == 0) std::swap(then, hinted);
    SCOPED_TRACE(fmt::format("plan {}:\n{}", number, then.plan()));
    Sequence run(then, {.seed = number, .epochs = 2});
    const auto cut = static_cast<int64_t>(random.below(12));
    for (int64_t i = 0; i < cut; ++i) (void)run.next();
    const std::string state = run.state();
    EXPECT_EQ(migrate(state, then, then).value().state, state);
    auto restored = Sequence::restored(then, {.seed = number, .epochs = 2}, state);
    ASSERT_TRUE(restored) << restored.error();
    const Course rest = course_of(*restored, 200);
    for (const bool within : {false, true}) {
      const Dataset now = within ? hinted : then | prefetch();
      const auto migrated = migrate(state, then, now);
      if (!migrated) {
        EXPECT_TRUE(within);
        EXPECT_EQ(migrated.error().kind(), ErrorKind::FailedPrecondition) << migrated.error();
        continue;
      }
      carried += within ? 1 : 0;
      auto gone_on = Sequence::restored(now, {.seed = number, .epochs = 2}, migrated->state);
      ASSERT_TRUE(gone_on) << gone_on.error();
      const Course got = course_of(*gone_on, 200);
      ASSERT_EQ(got.outcomes.size(), rest.outcomes.size()) << to_string(*migrated);
      for (size_t i = 0; i < got.outcomes.size(); ++i) EXPECT_EQ(got.outcomes[i].bytes, rest.outcomes[i].bytes);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(carried, count / 2) << "of " << count;
  std::cout << carried << " of " << count << " carried\n";
}

}  // namespace
}  // namespace headpond::internal
