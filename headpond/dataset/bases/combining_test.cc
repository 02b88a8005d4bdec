// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/combining.h"

#include "headpond/dataset/operator.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int64_t number(const Element& element) { return element[size_t{0}].as<int64_t>()[0]; }

// The sum of `size` elements; of those with the sum 6 nothing; an error for the sum 9, an exception for 12.
class Sum final : public Combining {
 public:
  Sum(const Node::Ref& input, int64_t size, bool odd)
      : Combining(facts_of(input, size), size), size_(size), odd_(odd) {}
  Got combine(int64_t i, InputElements& input, RandomKey, Context& context, OutputSlots outputs,
              Element& out) const override {
    int64_t sum = 0;
    for (int64_t k = 0; k < size_; ++k) {
      Element one;
      if (const Got got = input.at(i + k, one); got != Got::value) return got;
      sum += number(one);
    }
    std::memcpy(context.allocate_output(out, outputs, i64, {}), &sum, sizeof(sum));
    if (odd_ && sum == 9) return context.fail({ErrorKind::DataLoss, "nine"});
    if (odd_ && sum == 12) throw Exception(Error(ErrorKind::NotFound, "twelve"));
    return odd_ && sum == 6 ? Got::hole : Got::value;
  }

 private:
  Facts facts_of(const Node::Ref& input, int64_t size) {
    Facts facts = counting_facts(input, "sum", fmt::format("size={}", size));
    facts.slots = facts.slots.then(
        [size](int64_t slots) { return slots == kEndless ? slots : std::max(slots - size + 1, int64_t{0}); });
    return facts;
  }
  const int64_t size_;
  const bool odd_;
};
Step sum(int64_t size, bool odd = false) {
  return [size, odd](const Dataset& input) { return Dataset(std::make_shared<Sum>(input.node(), size, odd)); };
}

// Element `i` and the one `by` further on.
class Far final : public Combining {
 public:
  Far(const Node::Ref& input, int64_t by) : Combining(facts_over(input, "far", "", input->spec()), 3), by_(by) {}
  Got combine(int64_t i, InputElements& input, RandomKey, Context&, OutputSlots, Element& out) const override {
    const Got got = input.at(i, out);
    Element other;
    return got == Got::value ? input.at(i + by_, other) : got;
  }

 private:
  const int64_t by_;
};
Dataset far(const Dataset& input, int64_t by) { return Dataset(std::make_shared<Far>(input.node(), by)); }

TEST(Combining, MakesAnElementOfSeveral) {
  EXPECT_THAT(elements(range(6) | sum(3), {}, true), ElementsAre("3 #0", "6 #1", "9 #2", "12 #3"));
  EXPECT_THAT(elements(range(6) | as_stream() | sum(3), {}, true), ElementsAre("3 #0", "6 #1", "9 #2", "12 #3"));
  EXPECT_THAT(elements(range(9) | evens() | sum(3), {}, true), ElementsAre("6 #0", "12 #2", "18 #4"));
  EXPECT_THAT(elements(range(2) | sum(3)), ElementsAre());
  EXPECT_THAT(elements(range(2) | as_stream() | sum(3)), ElementsAre());
  EXPECT_EQ((range(6) | sum(3)).cardinality(), 4);
}

TEST(Combining, KeepsTheContract) {
  for (const int64_t size : {1, 2, 5}) {
    for (const Dataset& input : {range(20), range(20) | as_stream(), range(40) | evens(), range(0), range(3)}) {
      check_contract(input | sum(size));
      check_contract(input | shuffle(4) | sum(size) | sum(2) | batch(3));
    }
  }
}

TEST(Combining, AStreamIsRestoredBeyondItsFirstSnapshots) {
  check_contract(range(300) | as_stream() | sum(3), {.epochs = 1});
}

TEST(Combining, AnErrorOfTheInputStandsForEachElementThatNeedsIt) {
  const auto fails_at_2 = map(
      [](int64_t x) -> Result<int64_t> {
        if (x == 2) return fail(ErrorKind::DataLoss, "two");
        return x;
      },
      {.name = "fails_at_2"});
  const auto at_positions = elements(range(6) | fails_at_2 | sum(2));
  EXPECT_EQ(at_positions.size(), 5U);
  EXPECT_EQ(at_positions[0], "1");
  EXPECT_EQ(at_positions[1], at_positions[2]);
  EXPECT_THAT(at_positions[1], HasSubstr("two"));
  EXPECT_EQ(at_positions[3], "7");
  // Of a stream it is delivered once, and the later elements move up.
  const auto one_after_the_other = elements(range(6) | as_stream() | fails_at_2 | sum(2));
  EXPECT_EQ(one_after_the_other.size(), 5U);
  EXPECT_THAT(one_after_the_other, ElementsAre("1", at_positions[1], "4", "7", "9"));
}

TEST(Combining, ItsOwnErrorsNameOperatorAndElementAndTheRunGoesOn) {
  for (const Dataset& input : {range(6), range(6) | as_stream()}) {
    const auto all = answers(input | sum(3, true));
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0], "3");
    EXPECT_EQ(all[1], "!sum(size=3), range, record 2: nine");
    EXPECT_EQ(all[2], "!sum(size=3), range, record 3: twelve");
  }
  check_contract(range(20) | as_stream() | sum(3, true));
}

TEST(Combining, WaitsForItsInputAndKeepsWhatItHas) {
  EXPECT_THAT(answers(script({"1", "pending", "2", "bad", "pending", "3", "4"}) | sum(2)),
              ElementsAre("pending", "3", "!bad", "pending", "5", "7", "end"));
}

TEST(Combining, RefusesToAskOutOfReach) {
  const char* const error = "far(), range, record 0: it asked for element 3 of its input, and may ask for 0 to 2";
  EXPECT_THAT(answers(far(range(3), 3)).front(), HasSubstr(error));
  EXPECT_EQ(elements(far(range(3), 2)).front(), "0");
  const Dataset stream = range(5) | as_stream();
  EXPECT_EQ(elements(far(stream, 2)).front(), "0");
  EXPECT_THAT(answers(far(stream, 3)).front(), HasSubstr(error));
  EXPECT_THAT(answers(far(stream, -1)).front(), HasSubstr("it asked for element -1"));
  EXPECT_THROW((void)(range(3) | sum(0)), Exception);
}

TEST(Combining, KnowsNothingOfTheLengthOfAnEndlessInput) {
  const Dataset endless = range(3) | repeat() | sum(2);
  EXPECT_EQ(endless.cardinality(), kEndless);
  Sequence sequence(endless);
  for (const char* const expected : {"1", "3", "2", "1"}) EXPECT_EQ(text_of(*sequence.next()), expected);
}

TEST(Combining, RefusesAPositionBeyondWhatItHasRead) {
  const Dataset stream = range(9) | as_stream() | sum(2);
  PlainFeed feed;
  for (const std::string_view damaged : {"\2\0\0\0\0\0", "\1\0\0\0\0\0", ""}) {
    StateVisitor visitor = StateVisitor::restoring(damaged);
    open(*stream.node(), {}, feed)->visit_state(visitor);
    EXPECT_FALSE(visitor.complete());
  }
}

}  // namespace
}  // namespace headpond::internal
