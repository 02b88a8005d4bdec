// SPDX-License-Identifier: Apache-2.0
// The contract as users check it: our own operators keep it, and an operator with one mistake is found.
#include "headpond/engine/testing/contract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "headpond/dataset/operator.h"
#include "headpond/dataset/ops.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

Node::Facts plain(const Node::Ref& input) { return facts_over(input, "broken", "", input->spec()); }
int64_t number(const Element& element) { return element[size_t{0}].as<int64_t>()[0]; }
template <class Op>
Dataset over(const Dataset& input) {
  return Dataset(std::make_shared<Op>(input.node()));
}

TEST(LoaderContract, OurOperatorsKeepItOverEachKindOfInput) {
  const std::vector<Step> steps = {
      map([](int64_t x) { return x * 2; }, {.name = "twice"}),
      filter([](int64_t x) { return x % 2 == 0; }, {.name = "even"}),
      shuffle(),
      shuffle(5),
      batch(4),
      skip(3) | take(9),
      shard(3, 1),
      repeat(2) | random_u32(),
      unique() | enumerate(),
      cache(),
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(contract_violation(steps[i], range(12), {.threads = 2}), "") << "step " << i;
  }
}

TEST(LoaderContract, HoldsWithErrorsAndWithoutAnEnd) {
  const auto fails = map(
      [](int64_t x) -> Result<int64_t> {
        if (x % 3 == 0) return fail(ErrorKind::DataLoss, "a third");
        return x;
      },
      {.name = "fails"});
  EXPECT_EQ(contract_violation(fails, range(20)), "");
  EXPECT_EQ(contract_violation(fails | batch(2), range(20)), "");
  EXPECT_EQ(contract_violation(range(9) | fails | repeat(), {.most_elements = 40}), "");
  EXPECT_EQ(contract_violation(ignore_errors(), range(20) | fails, {.may_ignore_errors = true}), "");
}

// Its random numbers are the thread's.
template <bool kSeeded>
class Drawing final : public Pointwise {
 public:
  explicit Drawing(const Node::Ref& input) : Pointwise(plain(input)) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    const auto thread = std::hash<std::thread::id>()(std::this_thread::get_id());
    thread_local Random own(thread);
    Random again(RandomKey{thread}, in.key);  // Follows from thread and element: only other threads give other numbers.
    out.append(Tensor::scalar(static_cast<int64_t>((kSeeded ? again : own).u32())));
    return Got::value;
  }
};

TEST(LoaderContract, FindsRandomNumbersThatDependOnTheThread) {
  EXPECT_THAT(contract_violation(over<Drawing<false>>, range(20)), HasSubstr("over the input: a second run, call 0"));
  EXPECT_EQ(sequence_violation(over<Drawing<true>>(range(20))), "");
  EXPECT_THAT(contract_violation(over<Drawing<true>>, range(20)), HasSubstr("over the input: a Loader with"));
}

class ForgetfulSum final : public Iterator {
 public:
  explicit ForgetfulSum(std::unique_ptr<Iterator> input) : input_(std::move(input)) {}
  Got next(Context& context, Element& out) override {
    const Got got = input_->next(context, out);
    if (got == Got::value) out[size_t{0}] = Tensor::scalar(sum_ += number(out));
    return got;
  }
  void visit_state(StateVisitor& visitor) override { input_->visit_state(visitor); }

 private:
  const std::unique_ptr<Iterator> input_;
  int64_t sum_ = 0;
};
class Forgetful final : public Node {
 public:
  explicit Forgetful(const Node::Ref& input) : Node(stream(plain(input))) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<ForgetfulSum>(feed.open(input(), binding));
  }

 private:
  static Facts stream(Facts facts) {
    facts.kind = Kind::stream;
    return facts;
  }
};

TEST(LoaderContract, FindsAFieldThatTheStateForgets) {
  EXPECT_THAT(contract_violation(over<Forgetful>, range(20)), HasSubstr("over the input: restored after call"));
}

// At a position it gives the next element, in an iteration this one.
class Ahead final : public Node {
 public:
  explicit Ahead(const Node::Ref& input) : Node(plain(input)) {}
  bool iterates() const override { return true; }
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    const auto next = [last = slots() - 1](int64_t i) { return std::min(i + 1, last); };
    return std::make_shared<PositionMap<decltype(next)>>(*this, view_of(input(), binding), next);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return feed.open(input(), binding);
  }
};

TEST(LoaderContract, FindsPositionsThatGiveOtherElements) {
  EXPECT_EQ(contract_violation(over<Ahead>, range(20)),
            "over the input: element 0: positions give '1 #1', iteration gives '0 #0'");
}

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
class DropsErrors final : public Node {
 public:
  explicit DropsErrors(const Node::Ref& input) : Node(plain(input)) {}
  bool iterates() const override { return kind() == Kind::stream; }
  std::shared_ptr<const View> bind(const Binding& binding) const override { return view_of(input(), binding); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<Dropping>(feed.open(input(), binding));
  }
};

TEST(LoaderContract, FindsAnErrorThatIsDropped) {
  EXPECT_THAT(
      contract_violation(over<DropsErrors>, range(20)),
      HasSubstr("over a stream: broken(): its input answered an error, and it did not: DataLoss: range: planted"));
}

TEST(LoaderContract, SaysWhyAnOperatorCannotBeBuiltOverItsInput) {
  EXPECT_THAT(contract_violation(shuffle(), range(20) | as_stream()),
              HasSubstr("over the input: cannot be built: InvalidArgument: shuffle: a stream has no positions"));
  EXPECT_EQ(contract_violation(shuffle(), range(20), {.threads = 0}), "") << "streams may be refused";
}

}  // namespace
}  // namespace headpond::internal
