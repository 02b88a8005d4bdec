// SPDX-License-Identifier: Apache-2.0
// Controls: each promise of the contract, and an operator that breaks it.
#include "headpond/dataset/testing/contract.h"

#include <algorithm>

#include "headpond/dataset/operator.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Node::Facts plain(const Node::Ref& input) { return facts_over(input, "broken", "", input->spec()); }
template <class Op, class... A>
Dataset over(const Dataset& input, A... arguments) {
  return Dataset(std::make_shared<Op>(input.node(), arguments...));
}
int64_t number(const Element& element) { return element[size_t{0}].as<int64_t>()[0]; }

class Drawing final : public Pointwise {
 public:
  explicit Drawing(const Node::Ref& input) : Pointwise(plain(input)) {}
  Got apply(Element&, RandomKey, Context&, OutputSlots, Element& out) const override {
    thread_local Random own(1);
    out.append(Tensor::scalar(static_cast<int64_t>(own.u32())));
    return Got::value;
  }
};

TEST(Contract, FindsRandomNumbersOfAThread) {
  EXPECT_THAT(sequence_violation(over<Drawing>(range(9))), HasSubstr("a second run, call 0"));
}

enum class Misfit : uint8_t { none, dtype, fields, shape };
class Misfitting final : public Pointwise {
 public:
  Misfitting(const Node::Ref& input, Misfit misfit) : Pointwise(facts_of(input, misfit)), misfit_(misfit) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    out.append(in[size_t{0}]);
    if (misfit_ == Misfit::fields && number(in) == 5) out.append(in[size_t{0}]);
    return Got::value;
  }

 private:
  static Facts facts_of(const Node::Ref& input, Misfit misfit) {
    Facts facts = plain(input);
    if (misfit == Misfit::dtype) facts.spec[0].dtype = DType::f32;
    if (misfit == Misfit::shape) facts.spec[0].shape = Shape({2});
    return facts;
  }
  const Misfit misfit_;
};

TEST(Contract, FindsElementsThatDoNotFitTheSpec) {
  const auto violation = [](const Dataset& input, Misfit misfit) {
    return sequence_violation(over<Misfitting>(input, misfit));
  };
  for (const Dataset& input : {range(9), range(9) | as_stream()}) {
    EXPECT_EQ(violation(input, Misfit::none), "") << "control";
    EXPECT_THAT(violation(input, Misfit::dtype), HasSubstr("answer 0 does not fit the spec"));
    EXPECT_THAT(violation(input, Misfit::fields), HasSubstr("answer 5 does not fit the spec"));
    EXPECT_THAT(violation(input, Misfit::shape), HasSubstr("answer 0 does not fit the spec"));
  }
}

// The sum of all elements up to this one.
class RunningSum final : public Iterator {
 public:
  RunningSum(std::unique_ptr<Iterator> input, bool forgets) : input_(std::move(input)), forgets_(forgets) {}
  Got next(Context& context, Element& out) override {
    const Got got = input_->next(context, out);
    if (got == Got::value) out[size_t{0}] = Tensor::scalar(sum_ += number(out));
    return got;
  }
  void visit_state(StateVisitor& visitor) override {
    if (!forgets_) visitor.number(sum_);
    input_->visit_state(visitor);
  }

 private:
  const std::unique_ptr<Iterator> input_;
  const bool forgets_;
  int64_t sum_ = 0;
};
class Summing final : public Node {
 public:
  Summing(const Node::Ref& input, bool forgets) : Node(stream(plain(input))), forgets_(forgets) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<RunningSum>(feed.open(input(), binding), forgets_);
  }

 private:
  static Facts stream(Facts facts) {
    facts.kind = Kind::stream;
    return facts;
  }
  const bool forgets_;
};

TEST(Contract, FindsAFieldThatTheStateForgets) {
  EXPECT_EQ(sequence_violation(over<Summing>(range(9), false)), "");
  EXPECT_THAT(sequence_violation(over<Summing>(range(9), true)),
              HasSubstr("restored after call 1 ('0/1 1 #1'), call 2"));
}

// Iterates over its input as it is; at a position it gives the element there, changed as `Change` does.
template <class Change>
class Changed final : public View {
 public:
  explicit Changed(std::shared_ptr<const View> input) : input_(std::move(input)) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return Change()(*input_, i, context, outputs, out);
  }

 private:
  const std::shared_ptr<const View> input_;
};
template <class Change>
class TwoWays final : public Node {
 public:
  explicit TwoWays(const Node::Ref& input) : Node(plain(input)) {}
  bool iterates() const override { return true; }
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<Changed<Change>>(view_of(input(), binding));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return feed.open(input(), binding);
  }
};
struct Same {
  Got operator()(const View& input, int64_t i, Context& context, OutputSlots outputs, Element& out) const {
    return input.at(i, context, outputs, out);
  }
};
struct OtherElement {
  Got operator()(const View& input, int64_t i, Context& context, OutputSlots outputs, Element& out) const {
    return input.at(i == 5 ? 4 : i, context, outputs, out);
  }
};
struct OtherKey {
  Got operator()(const View& input, int64_t i, Context& context, OutputSlots outputs, Element& out) const {
    const Got got = input.at(i, context, outputs, out);
    out.key += i == 3 ? 1 : 0;
    return got;
  }
};
struct OtherWithSlots {
  Got operator()(const View& input, int64_t i, Context& context, OutputSlots outputs, Element& out) const {
    return input.at(outputs.empty() ? i : 0, context, outputs, out);
  }
};
struct OtherWhenAskedAgain {
  Got operator()(const View& input, int64_t i, Context& context, OutputSlots outputs, Element& out) const {
    const Got got = input.at(i, context, outputs, out);
    thread_local int64_t last = 0;
    if (outputs.empty() && last > i) out.key ^= 1;
    last = i;
    return got;
  }
};

TEST(Contract, FindsPositionsThatGiveOtherElements) {
  EXPECT_EQ(sequence_violation(over<TwoWays<Same>>(range(9))), "");
  EXPECT_EQ(sequence_violation(over<TwoWays<OtherElement>>(range(9))),
            "element 5: positions give '4 #4', iteration gives '5 #5'");
  EXPECT_EQ(sequence_violation(over<TwoWays<OtherKey>>(range(9))),
            "element 3: positions give '3 #4', iteration gives '3 #3'");
  EXPECT_EQ(sequence_violation(over<TwoWays<OtherWithSlots>>(range(9))),
            "position 1: at() gives '1 #1', and '0 #0' with output slots");
  EXPECT_THAT(sequence_violation(over<TwoWays<OtherWhenAskedAgain>>(range(9))), HasSubstr("when it is asked again"));
}

class WrongFill final : public Pointwise {
 public:
  explicit WrongFill(const Node::Ref& input) : Pointwise(plain(input)) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    out = std::move(in);
    return Got::value;
  }
  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, OutputSlots columns,
            uint64_t* keys) const override {
    const auto spoil = [&](size_t first, std::span<const uint64_t>) { columns[0].data[first * 8] = std::byte{77}; };
    return fill_with_keys(view, positions, context, columns, keys, spoil);
  }
};

TEST(Contract, FindsColumnsThatHoldOtherValues) {
  EXPECT_THAT(sequence_violation(over<WrongFill>(range(9))), HasSubstr("1 positions: row 0, position"));
}

// As many more slots than its input has.
class LongerBy final : public Pointwise {
 public:
  LongerBy(const Node::Ref& input, int64_t more) : Pointwise(facts_of(input, more)) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    out = std::move(in);
    return Got::value;
  }

 private:
  static Facts facts_of(const Node::Ref& input, int64_t more) {
    Facts facts = plain(input);
    facts.slots = facts.slots.then([more](int64_t slots) { return slots + more; });
    return facts;
  }
};

TEST(Contract, FindsSlotsThatDoNotFit) {
  for (const Dataset& input : {range(9), range(9) | evens(), from_tensors(Tensor::scalar(int64_t{1})) | repeat(9)}) {
    EXPECT_EQ(sequence_violation(over<LongerBy>(input, 0)), "") << "control";
    EXPECT_EQ(sequence_violation(over<LongerBy>(input, 1)),
              input.node()->title() + " is asked for position 9, and has 9: are `slots` of what reads it too many?");
  }
  EXPECT_EQ(sequence_violation(over<LongerBy>(range(9) | as_stream(), 1)), "") << "control: an upper bound";
  EXPECT_EQ(sequence_violation(over<LongerBy>(range(9) | as_stream(), -1)), "it gives more elements than its 8 slots");
}

// The sum of neighbours.
class SumOfNeighbours final : public Combining {
 public:
  SumOfNeighbours(const Node::Ref& input, int64_t neighbours, int64_t reach, int64_t fewer)
      : Combining(facts_of(input, fewer), reach), neighbours_(neighbours) {}
  Got combine(int64_t i, InputElements& input, RandomKey, Context&, OutputSlots, Element& out) const override {
    int64_t sum = 0;
    for (int64_t next = i; next < i + neighbours_; ++next) {
      Element one;
      if (const Got got = input.at(next, one); got != Got::value) return got;
      sum += number(one);
    }
    out.append(Tensor::scalar(sum));
    return Got::value;
  }

 private:
  static Facts facts_of(const Node::Ref& input, int64_t fewer) {
    Facts facts = plain(input);
    facts.slots = facts.slots.then([fewer](int64_t slots) { return std::max(slots - fewer, int64_t{0}); });
    return facts;
  }
  const int64_t neighbours_;
};

TEST(Contract, FindsElementsThatACombiningOperatorMayNotAskFor) {
  const auto violation = [](const Dataset& input, int64_t reach, int64_t fewer) {
    return sequence_violation(over<SumOfNeighbours>(input, 3, reach, fewer));
  };
  const Dataset stream = range(9) | as_stream();
  EXPECT_EQ(violation(range(9), 3, 2), "") << "control";
  EXPECT_EQ(violation(stream, 3, 2), "") << "control";
  EXPECT_THAT(violation(range(9), 3, 1), HasSubstr("it asked for element 9 of its input, and may ask for 0 to 8: are"));
  EXPECT_THAT(violation(stream, 2, 2),
              HasSubstr("element 2 of its input, and may ask for 0 to 1: are `slots` too many"));
}

// Leaves out what its input fails to give.
class Dropping final : public Iterator {
 public:
  explicit Dropping(std::unique_ptr<Iterator> input) : input_(std::move(input)) {}
  Got next(Context& context, Element& out) override {
    Got got = Got::error;
    while (got == Got::error) got = input_->next(context, out);
    return got;
  }
  void visit_state(StateVisitor& visitor) override { input_->visit_state(visitor); }

 private:
  const std::unique_ptr<Iterator> input_;
};
class DroppingView final : public View {
 public:
  explicit DroppingView(std::shared_ptr<const View> input) : input_(std::move(input)) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const Got got = input_->at(i, context, outputs, out);
    return got == Got::error ? Got::hole : got;
  }

 private:
  const std::shared_ptr<const View> input_;
};
class DropsErrors final : public Node {
 public:
  explicit DropsErrors(const Node::Ref& input) : Node(sparse(plain(input))) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<DroppingView>(view_of(input(), binding));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<Dropping>(feed.open(input(), binding));
  }

 private:
  static Facts sparse(Facts facts) {
    if (facts.kind == Kind::indexed) facts.kind = Kind::sparse;
    return facts;
  }
};

TEST(Contract, FindsAnErrorThatIsDropped) {
  for (const Dataset& input : {range(9), range(9) | as_stream(), range(9) | evens()}) {
    EXPECT_THAT(sequence_violation(over<DropsErrors>(input)),
                HasSubstr("broken(): its input answered an error, and it did not"));
    EXPECT_THAT(sequence_violation(over<DropsErrors>(input) | batch(2)), HasSubstr("broken(): its input"));
    EXPECT_EQ(sequence_violation(over<DropsErrors>(input), {.may_ignore_errors = true}), "");
  }
}

// Takes an input that has nothing yet for one that has ended.
class Impatient final : public Iterator {
 public:
  explicit Impatient(std::unique_ptr<Iterator> input) : input_(std::move(input)) {}
  Got next(Context& context, Element& out) override {
    const Got got = input_->next(context, out);
    return got == Got::pending ? Got::end : got;
  }
  void visit_state(StateVisitor& visitor) override { input_->visit_state(visitor); }

 private:
  const std::unique_ptr<Iterator> input_;
};
class DoesNotWait final : public Node {
 public:
  explicit DoesNotWait(const Node::Ref& input) : Node(plain(input)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<Impatient>(feed.open(input(), binding));
  }
};

TEST(Contract, FindsAnOperatorThatDoesNotWait) {
  EXPECT_THAT(sequence_violation(over<DoesNotWait>(range(9) | as_stream())), HasSubstr("answers pending now and then"));
}

// Its arguments are missing in Facts::args.
class Hidden final : public Pointwise {
 public:
  Hidden(const Node::Ref& input, int64_t by) : Pointwise(plain(input)), by_(by) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(number(in) + by_));
    return Got::value;
  }

 private:
  const int64_t by_;
};

TEST(Contract, FindsAStateOfOtherArguments) {
  EXPECT_EQ(sequence_violation(over<Hidden>(range(9), 1)), "");
  EXPECT_THAT(sequence_violation(over<Hidden>(range(9), 1), {.other_plans = {over<Hidden>(range(9), 2)}}),
              HasSubstr("the state of another plan is accepted"));
  EXPECT_EQ(sequence_violation(range(9) | skip(1), {.other_plans = {range(9) | skip(2), range(9)}}), "");
}

TEST(Contract, HoldsWithErrorsWithoutAnEndAndWithoutElements) {
  const auto fails = map(
      [](int64_t x) -> Result<int64_t> {
        if (x % 3 == 0) return fail(ErrorKind::DataLoss, "a third");
        return x;
      },
      {.name = "fails"});
  for (const Dataset& input : {range(9), range(9) | as_stream(), range(9) | evens(), range(0)}) {
    EXPECT_EQ(sequence_violation(input | fails), "");
    EXPECT_EQ(sequence_violation(input | fails | batch(2)), "");
    EXPECT_EQ(sequence_violation(input | fails | batch(2) | shuffle(2)), "");
  }
  EXPECT_EQ(sequence_violation(range(9) | fails | repeat(), {.most_elements = 50}), "");
  EXPECT_EQ(sequence_violation(range(9) | as_stream() | repeat(), {.most_elements = 50}), "");
}

TEST(Contract, SaysThatARunCannotBegin) {
  EXPECT_THAT(sequence_violation(tfrecord("no_such_file.tfrecord")), HasSubstr("cannot be run: NotFound"));
}

}  // namespace
}  // namespace headpond::internal
