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
