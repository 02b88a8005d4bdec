// SPDX-License-Identifier: Apache-2.0
// How operators with a state of their own go on over an input that changed.
#include "headpond/dataset/migrate/carry_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/training_plan_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Step batches(int64_t size) { return batch(size); }
Step as_before() { return prefetch(); }

// The samples that are left, or the error.
std::vector<std::string> rest(const Dataset& then, const Dataset& now, int64_t count) {
  Sequence old = run_of_epoch(then, 7, 0);
  (void)samples(old, count);
  const auto migrated = migrate(old.state(), then, now);
  if (!migrated) return {migrated.error().to_string()};
  std::vector<std::string> all;
  Sequence run = run_of_epoch(now, 7, 0, migrated->state);
  while (auto element = run.next()) all.push_back(text_of(*element));
  return all;
}

TEST(Carry, CountsOfElementsStay) {
  const Dataset source = range(9) | as_stream();
  EXPECT_THAT(rest(source | take(5), source | as_before() | take(5), 3), ElementsAre("3", "4"));
  EXPECT_THAT(rest(source | take(5), source | take(7), 3), ElementsAre("3", "4", "5", "6"));
  EXPECT_THAT(rest(source | skip(2), source | as_before() | skip(2), 3), ElementsAre("5", "6", "7", "8"));
  EXPECT_THAT(rest(source | shard(2, 1), source | as_before() | shard(2, 1), 3), ElementsAre("7"));
  EXPECT_THAT(rest(source | enumerate(), source | as_before() | enumerate(), 7), ElementsAre("7, 7", "8, 8"));
  EXPECT_THAT(rest(range(9) | take(5), range(9) | as_before() | take(4), 3), ElementsAre("3"));
}

TEST(Carry, ARoundOfRepeatGoesOn) {
  EXPECT_THAT(rest(range(6) | batches(2) | repeat(2), range(6) | batches(3) | repeat(2), 5), ElementsAre("[4 5]"))
      << "the third batch of the second round";
  EXPECT_THAT(rest(range(6) | repeat(2) | batches(2), range(6) | repeat(2) | batches(3), 4),
              ElementsAre("[2 3 4]", "[5]"));
}

TEST(Carry, JoinedInputsStayInStep) {
  const Dataset a = range(5) | as_stream(), b = range(100, 105),
                choices = range(6) | filter([](int64_t x) { return x < 2; }, {.name = "two"}) | repeat(3);
  EXPECT_THAT(rest(zip({a, b}), zip({a | as_before(), b}), 3), ElementsAre("3, 103", "4, 104"));
  EXPECT_THAT(rest(choose_from_datasets({a, b}, choices), choose_from_datasets({a | as_before(), b}, choices), 3),
              ElementsAre("101", "2", "102"));
  EXPECT_THAT(rest(zip({a, b}), zip({a, b, range(9)}), 3),
              ElementsAre(HasSubstr("zip(inputs=3): it was zip(inputs=2)")));
}

TEST(Carry, RowsMayBeGatheredBelowOnErrorFromNowOn) {
  const Dataset source = range(7) | as_stream(), other = range(100, 107) | as_stream();
  EXPECT_THAT(rest(source | on_error(), source | batches(2) | on_error(), 3), ElementsAre("[3 4]", "[5 6]"));
  EXPECT_THAT(rest(source | batches(2) | on_error(), source | on_error(), 2), ElementsAre("4", "5", "6"));
  const Dataset choices = range(6) | filter([](int64_t x) { return x < 2; }, {.name = "two"}) | repeat(2),
                single = choose_from_datasets({source, other}, choices),
                pairs = choose_from_datasets({source | batches(2), other | batches(2)}, choices);
  EXPECT_THAT(rest(single, pairs, 1), ElementsAre("[100 101]", "[1 2]", "[102 103]"));
  EXPECT_THAT(rest(pairs, single, 1), ElementsAre("100", "2", "101"));
}

TEST(Carry, AnErrorWithinABatchIsNotLost) {
  const Dataset source = range(9) | as_stream() |
                         map(
                             [](int64_t x) -> Result<int64_t> {
                               if (x == 3) return fail(ErrorKind::DataLoss, "bad");
                               return x;
                             },
                             {.name = "bad_3"});
  const Dataset other = range(100, 104) | as_stream(),
                choices = range(5) | map([](int64_t i) { return int64_t{i == 2}; }, {.name = "third"});
  const Dataset then = choose_from_datasets({source | batches(2), other | batches(2)}, choices),
                now = choose_from_datasets({source, other}, choices);
  Sequence old = run_of_epoch(then, 7, 0);
  ASSERT_EQ(text_of(old.next().value()), "[0 1]");
  ASSERT_FALSE(old.next()) << "3 fails, and 2 is in no batch yet";
  ASSERT_EQ(text_of(old.next().value()), "[100 101]");
  const auto migrated = migrate(old.state(), then, now);
  ASSERT_FALSE(migrated);
  EXPECT_THAT(migrated.error().message(), HasSubstr("save the state one element later"));
  ASSERT_EQ(text_of(old.next().value()), "[2 4]");
  EXPECT_TRUE(migrate(old.state(), then, now));
}

TEST(Carry, ASequenceGoesOnInItsInput) {
  const Dataset a = range(3) | as_stream(), b = range(100, 104) | as_stream(), c = range(200, 201);
  EXPECT_THAT(rest(concatenate({a, b}), concatenate({a, b, c}), 5), ElementsAre("102", "103", "200"));
  EXPECT_THAT(rest(concatenate({a, b}), concatenate({b, c}), 5), ElementsAre("102", "103", "200"));
  EXPECT_THAT(rest(concatenate({a, b}), concatenate({a, c}), 5), ElementsAre("200"));
  EXPECT_THAT(rest(concatenate({a, b}), mix({b, c}), 5), ElementsAre("102", "200", "103"));
  EXPECT_THAT(rest(concatenate({a, b}), mix({a, b}), 5), ElementsAre(HasSubstr("has ended")));
}

TEST(Carry, ChangesWithinAnEpochMayFollowEachOther) {
  const std::vector<Dataset> inputs = {range(6), range(1000, 1006)};
  const Dataset first = mix(inputs), second = mix(inputs, {1, 3}), third = second | random_u32() | batches(2);
  Sequence run = run_of_epoch(first, 7, 0);
  auto all = samples(run, 2);
  Sequence next = run_of_epoch(second, 7, 0, migrate(run.state(), first, second).value().state);
  for (const int64_t id : samples(next, 2)) all.push_back(id);
  Sequence last = run_of_epoch(third, 7, 0, migrate(next.state(), second, third).value().state);
  for (const int64_t id : samples(last)) all.push_back(id);
  EXPECT_EQ(epoch_violation({{.number = 0, .size = 6}}, all, 7, 0, false, {}), "");
  EXPECT_EQ(epoch_violation({{.number = 1, .size = 6}}, all, 7, 0, true, {}), "");
}

TEST(Carry, AMixtureOfWhatHasNotBegunHasPositions) {
  const Dataset a = range(3), b = range(100, 103), c = range(200, 203);
  const Dataset then = concatenate({a, b}), now = mix({b, c});
  Sequence run = run_of_epoch(then, 7, 0);
  (void)samples(run, 2);
  const auto migrated = migrate(run.state(), then, now);
  ASSERT_TRUE(migrated) << migrated.error();
  EXPECT_EQ(migrated->state.substr(0, 4), "hps1");
  Sequence rest = run_of_epoch(now, 7, 0, migrated->state);
  EXPECT_THAT(samples(rest), ElementsAre(100, 200, 101, 201, 102, 202));
}

TEST(Carry, BytesOfAStateAreJoined) {
  const Dataset plan = sample_from_datasets({range(5), range(100, 105)}, {1, 1});
  NewState state{.first_number = saved_number(0)};
  state.inputs[1].position = 3;
  const auto saved = saved_state(plan, {7, 0}, state);
  ASSERT_TRUE(saved) << saved.error();
  Sequence run = run_of_epoch(plan, 7, 0, save({.epoch = 0, .index = 0, .position = *saved}, plan, 7));
  const auto all = samples(run);
  EXPECT_EQ(all.size(), 7U) << "5 of the first, 2 of the second";
}

}  // namespace
}  // namespace headpond::internal
