// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/structure/parts_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Parts of the given lines; for ever the last one.
class Lines final : public Parts {
 public:
  Lines(const std::vector<std::vector<std::string>>& parts, bool is_endless)
      : Parts({.op = "lines", .args = "a=1", .spec = {{"", DType::i64, {}}}, .kind = Kind::stream, .slots = kEndless}),
        is_endless_(is_endless) {
    for (const auto& lines : parts) inputs_.push_back(script(lines).node());
  }
  std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const override {
    return {inputs_[std::min(static_cast<size_t>(n), inputs_.size() - 1)].get(), binding};
  }
  int64_t parts() const override { return is_endless_ ? kEndless : static_cast<int64_t>(inputs_.size()); }
  PartRange part_at(int64_t) const override { return {}; }  // Streams have no positions.

 private:
  std::vector<Node::Ref> inputs_;
  const bool is_endless_;
};

Dataset lines(const std::vector<std::vector<std::string>>& parts, bool is_endless = false) {
  return Dataset(std::make_shared<Lines>(parts, is_endless));
}

TEST(Parts, ComeOneAfterTheOther) {
  EXPECT_THAT(elements(lines({{"1", "2"}, {}, {"3"}, {}}), {}, true), ElementsAre("1 #1", "2 #2", keyed(3, 3, 2)));
  EXPECT_THAT(answers(lines(std::vector<std::vector<std::string>>{})), ElementsAre("end"));
}

TEST(Parts, PassOnWaitingAndErrors) {
  EXPECT_THAT(answers(lines({{"pending", "1", "bad"}, {"pending"}, {"ugly", "2"}})),
              ElementsAre("pending", "1", "!bad", "pending", "!ugly", "2", "end"));
}

TEST(Parts, WithoutAnEndStopAtOneThatGivesNothing) {
  EXPECT_THAT(answers(lines({{"1"}, {"2"}, {"pending"}}, true)),
              ElementsAre("1", "2", "pending", HasSubstr("!lines(a=1): no element in round 2"), "end"));
  EXPECT_THAT(answers(lines({{"1"}, {"bad"}}, true)), ElementsAre("1", "!bad", HasSubstr("round 1"), "end"));
}

TEST(Parts, SayWhatComesNext) {
  class Recording final : public PlainFeed {
   public:
    std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
      if (is_one(input)) said.push_back(fmt::format("open {}", binding.epoch));
      return PlainFeed::open(input, binding);
    }
    void expect(const Node& input, const Binding& binding) override {
      if (is_one(input)) said.push_back(fmt::format("expect {}", binding.epoch));
    }
    std::vector<std::string> said;

   private:
    static bool is_one(const Node& input) { return input.facts().op == "script"; }
  } feed;
  const Dataset dataset = script({"1"}) | repeat(3);
  Context context;
  const auto run = open(*dataset.node(), {}, feed);
  EXPECT_THAT(feed.said, ElementsAre("open 0"));
  Element one, two;
  EXPECT_EQ(run->next(context, one), Got::value);
  EXPECT_THAT(feed.said, ElementsAre("open 0", "expect 1")) << "not before the first part has ended";
  EXPECT_EQ(run->next(context, two), Got::value);
  StateVisitor saved;
  run->visit_state(saved);
  Element rest;
  EXPECT_EQ(run->next(context, rest), Got::value);
  EXPECT_THAT(feed.said, ElementsAre("open 0", "expect 1", "open 1", "expect 2", "open 2"));
  feed.said.clear();
  StateVisitor restored = StateVisitor::restoring(saved.saved());
  open(*dataset.node(), {}, feed)->visit_state(restored);
  EXPECT_THAT(feed.said, ElementsAre("open 0", "open 1")) << "no part is expected that does not come";
}

TEST(Parts, KeepTheContract) {
  check_contract(lines({{"1", "2"}, {}, {"3"}, {"4", "5"}, {}}));
  check_contract(lines({{"1", "2"}, {"3"}}, true) | take(6));
}

// The tens of a range, each as a part.
class Tens final : public Parts {
 public:
  explicit Tens(const Node::Ref& input) : Parts(facts_of(input)) {}
  std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const override {
    return {&input(static_cast<size_t>(n)), binding};
  }
  int64_t parts() const override { return 3; }
  PartRange part_at(int64_t i) const override { return {i / 10, i - i % 10, 10}; }

 private:
  static Facts facts_of(const Node::Ref& input) {
    return {.op = "tens", .spec = input->spec(), .slots = 30, .inputs = {input, input, input}};
  }
};

TEST(Parts, FillEachRunOfAPartAtOnceAndMixKeys) {
  const Dataset tens(std::make_shared<Tens>(range(10).node()));
  const std::vector<int64_t> positions = {8, 9, 10, 11, 3, 25};
  std::vector<uint64_t> keys(6);
  std::vector<int64_t> numbers(6);
  const OutputSlot column = {reinterpret_cast<std::byte*>(numbers.data()), &tens.spec()[0]};
  Context context;
  EXPECT_TRUE(tens.node()->bind({})->fill(positions, context, OutputSlots(&column, 1), keys.data()));
  EXPECT_THAT(numbers, ElementsAre(8, 9, 0, 1, 3, 5));
  EXPECT_THAT(keys, ElementsAre(8, 9, mix(0, 1), mix(1, 1), 3, mix(5, 2)));
}

TEST(Parts, AreRestoredInsideAPartAndAfterTheLast) {
  const Dataset dataset = lines({{"1"}, {"2", "3"}});
  PlainFeed feed;
  Context context;
  const auto run = open(*dataset.node(), {}, feed);
  for (const char* const rest : {"1", "2", "3", ""}) {
    StateVisitor saved;
    run->visit_state(saved);
    const auto again = open(*dataset.node(), {}, feed);
    StateVisitor restored = StateVisitor::restoring(saved.saved());
    again->visit_state(restored);
    EXPECT_TRUE(restored.complete());
    Element one, two;
    EXPECT_EQ(again->next(context, one), run->next(context, two));
    EXPECT_EQ(text_of(one), rest);
    EXPECT_EQ(text_of(two), rest);
  }
}

}  // namespace
}  // namespace headpond::internal
