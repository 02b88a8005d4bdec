// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/dataset.h"

#include <gtest/gtest-spi.h>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

bool is_odd(int64_t x) { return x % 2 == 1; }

TEST(Dataset, KnowsHowManyElementsItHas) {
  EXPECT_EQ(range(5).cardinality(), 5);
  EXPECT_EQ((range(5) | shuffle() | take(3)).cardinality(), 3);
  EXPECT_EQ((range(5) | filter(&is_odd)).cardinality(), std::nullopt);
  EXPECT_EQ((range(0) | filter(&is_odd)).cardinality(), 0);
}

TEST(Dataset, PrintsItsPlanFromTheSourceOn) {
  EXPECT_EQ((range(5) | shuffle(2) | take(3)).plan(),
            "range(start=0, stop=5, step=1)\nshuffle(window=2)\ntake(count=3)\n");
}

class Pair final : public Node {
 public:
  Pair(std::vector<Ref> inputs, int& asked)
      : Node({.op = "pair", .kind = Kind::indexed, .slots = 3, .inputs = std::move(inputs)}), asked_(asked) {}
  bool iterates() const override {
    ++asked_;
    return Node::iterates();
  }

 private:
  int& asked_;
};

// Each pair is made of two of the pair below it: of one object, or of two equal ones.
Dataset stacked_pairs(int times, bool shares, int& asked) {
  Node::Ref one = range(3).node(), other = one;
  for (int i = 0; i < times; ++i) {
    const Node::Ref next = std::make_shared<Pair>(std::vector{one, other}, asked);
    other = shares ? next : std::make_shared<Pair>(std::vector{one, other}, asked);
    one = next;
  }
  return Dataset(one);
}

TEST(Dataset, WritesEachPartOfAVeryLongPlanOnce) {
  int asked = 0;
  const std::string plan = stacked_pairs(40, true, asked).plan();
  EXPECT_EQ(std::ranges::count(plan, '\n'), 2 + 40 + 39) << "the source twice, each pair, and again all but the last";
  EXPECT_NE(plan.find(" pair(), as step 3\n"), std::string::npos);
  EXPECT_TRUE(plan.ends_with("\npair()\n"));
  EXPECT_EQ(stacked_pairs(40, false, asked).plan(), plan) << "it says what is equal, not what is one object";
  const std::string all = stacked_pairs(5, true, asked).plan();
  EXPECT_EQ(std::ranges::count(all, '\n'), 63) << "control: a shorter plan is written whole";
  EXPECT_EQ(all.find("as step"), std::string::npos);
}

TEST(Dataset, AsksEachNodeAFewTimesHoweverOftenItIsUsed) {
  int asked = 0;
  const Dataset high = stacked_pairs(40, true, asked) | shuffle();
  EXPECT_FALSE(high.node()->iterates());
  EXPECT_FALSE(decides_in_order(*high.node()));
  EXPECT_LT(asked, 4 * 40);
}

TEST(Dataset, ZipsOfOneDatasetStackedVeryHighCanBePlanned) {
  Dataset high = range(3) | shuffle(2);
  for (int i = 0; i < 40; ++i) high = zip({high, high}) | map([](int64_t first, int64_t) { return first; });
  EXPECT_EQ(std::ranges::count((high | shuffle()).plan(), '\n'), 2 + 40 * 3 + 1)
      << "at each height a zip, a map, and a line for the second input";
  EXPECT_EQ(high.cardinality(), 3);
}

TEST(Dataset, IsRefusedIfARunWouldHaveFarMoreStepsThanNodes) {
  const auto stacked = [](int times) {
    Dataset high = range(3);
    for (int i = 0; i < times; ++i) high = zip({high, high}) | map([](int64_t first, int64_t) { return first; });
    return high;
  };
  const auto opened = check(stacked(19));
  ASSERT_FALSE(opened);
  EXPECT_EQ(
      opened.error().to_string(),
      "InvalidArgument: map: a run would open 1572862 operators, because an input is opened once for each use; at "
      "most 1048576 uses may be repeated: save what is used so often, and read that");
  EXPECT_THROW(Sequence{stacked(40)}, Exception);
  EXPECT_FALSE(check(stacked(100))) << "more than 64 bits count";
  EXPECT_TRUE(check(stacked(18))) << "control: 786,430 steps";
  EXPECT_EQ(elements(stacked(8)).size(), 3U);
  std::vector<Dataset> many;
  for (int i = 0; i < 70'000; ++i) many.push_back(range(1));
  EXPECT_TRUE(check(concatenate(many))) << "control: as many nodes as steps";
}

TEST(Dataset, PrintsSpecs) {
  EXPECT_EQ(to_string(Spec{{"image", u8, {28, kUnknown}}, {"", i64, {}}}), "{'image': uint8[28,?], 1: int64[]}");
  EXPECT_EQ(to_string(Spec{}), "{}");
}

// The contract's own controls: broken datasets that it must reject.
class Broken final : public Node {
 public:
  enum class How { forgets_its_state, counts_calls };
  Broken(const Node::Ref& input, How how)
      : Node({.op = "broken",
              .spec = input->spec(),
              .kind = Kind::stream,
              .slots = input->facts().slots,
              .inputs = {input}}),
        how_(how) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<Run>(feed.open(input(), binding), how_, calls_);
  }

 private:
  class Run final : public Iterator {
   public:
    Run(std::unique_ptr<Iterator> input, How how, int64_t& calls)
        : input_(std::move(input)), how_(how), calls_(calls) {}
    Got next(Context& context, Element& out) override {
      const Got got = input_->next(context, out);
      ++given_;
      ++calls_;
      if (got == Got::value) out.key += static_cast<uint64_t>(how_ == How::counts_calls ? calls_ : given_);
      return got;
    }
    void visit_state(StateVisitor& visitor) override { input_->visit_state(visitor); }

   private:
    const std::unique_ptr<Iterator> input_;
    const How how_;
    int64_t& calls_;
    int64_t given_ = 0;
  };
  const How how_;
  mutable int64_t calls_ = 0;
};

TEST(Step, OneAfterTheOtherIsAStep) {
  const Step plus_one = map([](int64_t x) { return x + 1; }), evens = filter([](int64_t x) { return x % 2 == 0; });
  const auto chain = plus_one | evens | skip(1);
  static_assert(std::is_same_v<decltype(chain), const Step>);
  EXPECT_EQ((range(9) | chain).plan(), (range(9) | plus_one | evens | skip(1)).plan());
  EXPECT_THAT(elements(range(9) | chain), testing::ElementsAre("4", "6", "8"));
  EXPECT_EQ((range(9) | chain | batch(2)).plan(), (range(9) | (chain | batch(2))).plan());
  EXPECT_THAT(elements(range(3) | chain), testing::IsEmpty()) << "a chain may be used again";
}

TEST(Contract, RejectsAStateThatForgetsAFieldAndAValueThatFollowsFromTheRun) {
  for (const auto how : {Broken::How::forgets_its_state, Broken::How::counts_calls}) {
    const Dataset broken(std::make_shared<Broken>(range(4).node(), how));
    testing::TestPartResultArray found;
    {
      testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      check_contract(broken);
    }
    EXPECT_GT(found.size(), 0) << static_cast<int>(how);
  }
}

}  // namespace
}  // namespace headpond::internal
