// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/node.h"

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

TEST(Node, OccurrencesCountInItsOwnInputOnly) {
  const Dataset a = range(3) | random_u32({.field = "a"}), b = a | random_u32({.field = "b"});
  EXPECT_EQ(a.node()->random_key({7, 2}), random_key(7, "random_u32", 0, 2));
  EXPECT_EQ(b.node()->random_key({7, 2}), random_key(7, "random_u32", 1, 2));
  EXPECT_EQ((range(3) | shuffle() | random_u32()).node()->random_key({7, 2}), a.node()->random_key({7, 2}));
}

TEST(Node, IsNamedWithAllThatChangesWhatItGives) {
  class Versioned final : public Node {
   public:
    Versioned(std::string args, int version) : Node({.op = "op", .args = std::move(args), .version = version}) {}
  };
  EXPECT_EQ(Versioned("", 0).title(), "op()");
  EXPECT_EQ(Versioned("a=1", 0).title(), "op(a=1)");
  EXPECT_EQ(Versioned("a=1", 2).title(), "op(a=1, operator_version=2)");
  EXPECT_EQ((range(3) | shuffle()).node()->title(), "shuffle(window=all)");
  EXPECT_EQ((range(3) | shuffle({.name = "eval"})).node()->title(), "shuffle(window=all, name=eval)");
  EXPECT_EQ((range(3) | random_u32({.name = "dice"})).node()->title(), "random_u32(field=random, name=dice)");
}

TEST(Node, NodesOfAPlanAreListedOnceAndInputsFirst) {
  const Dataset a = range(3), b = a | shuffle(), both = concatenate({b, b, a});
  EXPECT_EQ(nodes_of(*both.node()), (std::vector{a.node().get(), b.node().get(), both.node().get()}));
  Dataset stacked = range(3);
  for (int i = 0; i < 40; ++i) stacked = stacked | concatenate(stacked);
  EXPECT_EQ(nodes_of(*stacked.node()).size(), 41U) << "2^40 uses";
}

TEST(Node, MayBeSoManyStepsDeepThatNoThreadRunsOutOfStack) {
  const Dataset one = range(1);
  const std::vector<std::function<Dataset(const Dataset&)>> steps = {
      [](const Dataset& below) { return below | map([](int64_t x) { return x + 1; }, {.name = "plus_one"}); },
      [](const Dataset& below) { return below | filter([](int64_t x) { return x >= 0; }, {.name = "natural"}); },
      [&](const Dataset& below) {
        return concatenate({below, one});
      },
      [](const Dataset& below) { return below | shuffle(3); }, [](const Dataset& below) { return below | cache(); }};
  for (const auto& step : steps) {
    Dataset deep = range(3);
    EXPECT_EQ(deep.node()->depth(), 1);
    while (deep.node()->depth() < kMostDepth) deep = step(deep);
    EXPECT_THAT([&] { (void)step(deep); },
                testing::ThrowsMessage<Exception>(testing::HasSubstr("would be 1025 steps deep, and at most 1024")));
    EXPECT_EQ(concatenate({one, Dataset(deep.node()->facts().inputs[0]), one}).node()->depth(), kMostDepth)
        << "the deepest";
    EXPECT_TRUE(check(deep));
    EXPECT_FALSE(deep.plan().empty());
    Sequence sequence(deep);
    ASSERT_TRUE(sequence.next());
    auto restored = Sequence::restored(deep, {}, sequence.state());
    ASSERT_TRUE(restored);
    EXPECT_TRUE(restored->next());
  }
}

TEST(Node, SaysWhatItIsNot) {
  EXPECT_THROW((void)(range(3) | as_stream()).node()->bind({}), Exception);
  class NoFeed final : public Feed {
    std::unique_ptr<Iterator> open(const Node&, const Binding&) override { return nullptr; }
  } feed;
  EXPECT_THROW((void)range(3).node()->iterate({}, feed), Exception);
}

}  // namespace
}  // namespace headpond::internal
