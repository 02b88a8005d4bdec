// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/explain.h"

#include <array>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int64_t same(int64_t x) { return x; }
bool any(int64_t) { return true; }
int64_t first_of(int64_t first, int64_t) { return first; }

std::vector<std::string> stages(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const headpond::Stage& stage : explain(dataset).stages) all.push_back(stage.how + ": " + stage.what);
  return all;
}

std::vector<std::string> rewrites(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const Rewrite& rewrite : explain(dataset).rewrites) {
    EXPECT_FALSE(rewrite.reason.empty());
    all.push_back((rewrite.applied ? "+" : "-") + rewrite.rule);
  }
  return all;
}

TEST(Explain, TellsTheStagesFromTheSourcesToTheProgram) {
  EXPECT_THAT(stages(range(9) | map(&same) | batch(2)), ElementsAre("rows in place: range|map|batch"));
  EXPECT_THAT(stages(range(9) | filter(&any) | take(3) | batch(2)),
              ElementsAre("positions: range|filter", "in order: take", "run ahead: batch"));
  EXPECT_THAT(stages(zip({range(9) | filter(&any), range(5) | batch(1)})),
              ElementsAre("positions: range|filter", "rows in place: range|batch", "in order: zip"));
}

TEST(Explain, SaysOnceWhatIsUsedVeryOften) {
  Dataset high = range(3);
  for (int i = 0; i < 40; ++i) high = zip({high, high}) | map(&first_of) | map(&same);
  const Explanation explanation = explain(high);
  ASSERT_EQ(explanation.stages.size(), 1U);
  EXPECT_THAT(explanation.stages[0].what, testing::EndsWith("..."));
  EXPECT_LT(explanation.stages[0].what.size(), 20'000U);
  EXPECT_EQ(explanation.rewrites.size(), 40U) << "two maps at each height";
  EXPECT_THAT(stages(zip({range(9), range(9)}) | map(&first_of)), ElementsAre("positions: range,range|zip|map"))
      << "control: a short name is whole";
}

TEST(Explain, EndsTheListOfStagesThatComeAgainTooOften) {
  const auto stacked = [](int times) {
    Dataset high = range(9) | unique();
    for (int i = 0; i < times; ++i) high = zip({high, high}) | map(&first_of);
    return explain(high).stages;
  };
  const std::vector<Stage> cut = stacked(40), whole = stacked(8);
  EXPECT_EQ(cut.back().how, "not listed");
  EXPECT_GT(cut.size(), 65'536U);
  EXPECT_LT(cut.size(), 300'000U);
  EXPECT_GE(whole.size(), 256U) << "control";
  EXPECT_NE(whole.back().how, "not listed") << "control";
}

TEST(Explain, SaysWhatComputesInOrder) {
  const Explanation explanation = explain(range(9) | unique());
  ASSERT_EQ(explanation.stages.size(), 2U);
  EXPECT_EQ(explanation.stages[1].how, "run ahead");
  EXPECT_THAT(explanation.stages[1].why, HasSubstr("it computes with elements in their order"));
}

TEST(Explain, SaysOfEachRewriteWhyOrWhyNot) {
  EXPECT_THAT(rewrites(range(9) | map(&same) | map(&same) | shuffle() | take(4)),
              ElementsAre("+fuse maps: map over map", "+shuffle below map: shuffle over map"));
  EXPECT_THAT(rewrites(range(9) | map(&same) | skip(1)), ElementsAre("+skip below map: skip over map"));
  EXPECT_THAT(rewrites(range(9) | filter(&any) | take(4)), ElementsAre("-take below map: take over filter"));
  EXPECT_THAT(rewrites(range(9) | map(&same) | map(&same, {.blocking = true})),
              ElementsAre("-fuse maps: map over map"));
  EXPECT_THAT(rewrites(range(9) | cache() | map(&same)), ElementsAre("-map over cache"));
  EXPECT_THAT(rewrites(range(9) | map(&same) | prefetch(3)), ElementsAre("+leave out prefetch over map"));
  const auto hints = [](const Dataset& dataset) {
    std::vector<std::string> all;
    for (const Rewrite& rewrite : explain(dataset).rewrites) all.push_back(rewrite.reason);
    return all;
  };
  EXPECT_THAT(
      hints(range(9) | batch(3) | prefetch(4) | with_options({.threads = 2})),
      ElementsAre(testing::HasSubstr("at most 4 of its elements"), testing::HasSubstr("the Loader's defaults")));
  EXPECT_THAT(hints(range(9) | prefetch(4) | batch(3)), ElementsAre(testing::HasSubstr("not needed")));
}

TEST(Explain, NamesRandomOperatorsThatACacheFreezes) {
  const auto frozen = [](const Dataset& dataset) {
    std::vector<std::string> all;
    for (const FrozenNote& note : explain(dataset).frozen) all.push_back(note.what + ": " + note.why);
    return all;
  };
  EXPECT_THAT(frozen(range(9) | random_u32() | cache() | shuffle()),
              ElementsAre(testing::AllOf(testing::StartsWith("random_u32("),
                                         testing::HasSubstr(": frozen by cache(): every epoch"))));
  EXPECT_THAT(frozen(range(9) | shuffle() | cache() | map(&same, {.name = "same"}) | cache("unused")),
              testing::SizeIs(1))
      << "once, for the nearest cache";
  EXPECT_THAT(frozen(range(9) | cache() | shuffle()), testing::IsEmpty());
  EXPECT_THAT(frozen(range(9) | window(3, shuffle()) | cache()),
              ElementsAre(HasSubstr("random operators in the datasets that it makes, if any, are frozen by cache()")));
  EXPECT_THAT(frozen(range(9) | window(3) | cache()), testing::IsEmpty());
  EXPECT_THAT(explain(range(9) | random_u32() | cache()).to_string(), testing::HasSubstr("the same in every epoch:"));
}

TEST(Explain, NamesPartsThatHaveOtherElementsInEachEpoch) {
  const auto moving = [](const Dataset& dataset) {
    std::vector<std::string> all;
    for (const MovingNote& note : explain(dataset).moving) all.push_back(note.what + ": " + note.why);
    return all;
  };
  const Dataset shuffled = range(9) | shuffle();
  const auto is_named = [](const char* what) {
    return ElementsAre(testing::AllOf(testing::StartsWith(what), HasSubstr("as shuffle(window=all) below it")));
  };
  EXPECT_THAT(moving(shuffled | take(7)), is_named("take(count=7): it keeps other elements in each epoch"));
  EXPECT_THAT(moving(shuffled | skip(7) | batch(2)), is_named("skip(count=7)"));
  EXPECT_THAT(moving(shuffled | map(&same, {.name = "same"}) | batch(2) | take(3)), is_named("take(count=3)"));
  EXPECT_THAT(moving(concatenate({range(3), shuffled}) | take(4)), is_named("take(count=4)"));
  EXPECT_THAT(moving(shuffled | take(4) | repeat(2)), is_named("take(count=4)"));
  EXPECT_THAT(moving(shuffled | skip(1) | take(4)), testing::SizeIs(2));
  for (const Dataset& fine : {range(9) | take(7) | shuffle(), shuffled | cache() | take(7),
                              shuffled | take(7) | cache(), shuffled | repeat(4) | take(20), shuffled | shard(3, 0),
                              shuffled | take(-1), shuffled | take(9), shuffled | skip(0), range(9) | take(3),
                              range(9) | shuffle({.reshuffle_each_iteration = false}) | skip(7) | shuffle()}) {
    EXPECT_THAT(moving(fine), testing::IsEmpty()) << fine.plan();
  }
  EXPECT_THAT(explain(shuffled | take(7)).to_string(), HasSubstr("other elements in each epoch:\n  take(count=7): "));
}

std::vector<std::string> restores(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const RestoreNote& note : explain(dataset).restore) all.push_back(note.what + ": " + note.why);
  return all;
}

Dataset generated(const GeneratorOptions& options) {
  const auto none = [](uint64_t) { return [] { return Result<std::optional<Element>>(std::nullopt); }; };
  return from_generator(none, {{"", i64, {}}}, options);
}

TEST(Explain, SaysWhatAThreadTakesAtATimeAndWhy) {
  const auto grouping = [](const Dataset& dataset) { return explain(dataset).stages.back().grouping; };
  EXPECT_THAT(grouping(range(9) | map(&same) | batch(32)), HasSubstr("a batch's 32 rows as take about 0.1 ms"));
  EXPECT_THAT(grouping(range(9) | map(&same)), HasSubstr("at most 256"));
  EXPECT_THAT(grouping(range(9) | map(&same, {.blocking = true})), HasSubstr("one element a task: it blocks"));
  EXPECT_THAT(grouping(generated({.blocking = true})), HasSubstr("what it gave is delivered meanwhile"));
  EXPECT_THAT(grouping(range(9) | filter(&any) | take(4)), HasSubstr("none: the caller runs it"));
}

TEST(Explain, SaysThatAShuffleOverAFilterPermutesPositions) {
  EXPECT_THAT(rewrites(range(9) | filter(&any) | shuffle()), ElementsAre("+shuffle below filter: shuffle over filter"));
  EXPECT_THAT(explain(range(9) | filter(&any) | shuffle()).rewrites[0].reason,
              HasSubstr("filtered positions stay empty"));
  EXPECT_THAT(rewrites(generated({}) | filter(&any) | shuffle(4)),
              ElementsAre("-shuffle below filter: shuffle over filter"));
}

TEST(Explain, NamesFunctionsThatARestoreCannotCheck) {
  const Dataset unnamed = range(9) | map(&same) | filter(&any);
  EXPECT_THAT(restores(unnamed), ElementsAre(testing::StartsWith("map(opaque): a restore cannot tell"),
                                             testing::StartsWith("filter(opaque): a restore cannot tell")));
  EXPECT_THAT(restores(zip({unnamed, unnamed})), testing::SizeIs(2));
  const std::array<int64_t, 2> images = {1, 2};
  const Dataset of_field =
      from_tensor_slices({{"image", Tensor::from(std::span<const int64_t>(images), {2})}}) | map("image", &same);
  EXPECT_THAT(restores(of_field), ElementsAre(testing::StartsWith("map(field=0, opaque): ")));
  EXPECT_THAT(restores(range(9) | map(&same, {.name = "same"}) | filter(&any, {.name = "any"})), testing::IsEmpty());
}

TEST(Explain, SaysWhatIsRestoredByReadingAgain) {
  EXPECT_THAT(restores(generated({.name = "g"})),
              ElementsAre(testing::StartsWith("from_generator(g, version=0): restored by reading the epoch again")));
  const auto seek = [](uint64_t, int64_t) {
    return Result<Generator>([] { return Result<std::optional<Element>>(std::nullopt); });
  };
  EXPECT_THAT(restores(generated({.name = "g", .seek = seek})), testing::IsEmpty());
  EXPECT_THAT(restores(generated({.name = "g", .seek = seek}) | cache()),
              ElementsAre(testing::StartsWith("cache(): restored by reading its input again")));
  EXPECT_THAT(restores(range(9) | cache()), testing::IsEmpty());
  EXPECT_THAT(restores(range(9) | window(3)),
              ElementsAre(testing::EndsWith("restored by reading again the elements that it holds, at most 3")));
  EXPECT_THAT(restores(generated({.name = "g", .seek = seek}) | window(3)),
              ElementsAre(testing::EndsWith("at most 3, and those between them, as the input has no positions")));
}

TEST(Explain, ReadsAsAPage) {
  const std::string page = explain(range(9) | map(&same) | batch(3)).to_string();
  EXPECT_THAT(page, HasSubstr("rows in place: range|map|batch"));
  EXPECT_THAT(page, HasSubstr("range(start=0, stop=9, step=1)"));
  EXPECT_THAT(page, HasSubstr("an element takes 24 bytes"));
  EXPECT_THAT(page, HasSubstr("on restore:\n  map(opaque): "));
}

}  // namespace
}  // namespace headpond
