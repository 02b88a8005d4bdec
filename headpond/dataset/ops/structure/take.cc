// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

class TakeIterator final : public Iterator {
 public:
  TakeIterator(std::unique_ptr<Iterator> input, int64_t count) : input_(std::move(input)), count_(count) {}

  Got next(Context& context, Element& out) override {
    if (taken_ == count_) return Got::end;
    const Got got = input_->next(context, out);
    if (got == Got::value) ++taken_;
    return got;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(taken_, 0, count_);
    input_->visit_state(visitor);
  }

 private:
  const std::unique_ptr<Iterator> input_;
  const int64_t count_;
  int64_t taken_ = 0;
};

Node::Facts facts_of(const Node::Ref& input, int64_t count) {
  Node::Facts facts = internal::facts_over(input, "take", fmt::format("count={}", count), input->spec());
  if (facts.kind == Kind::sparse) facts.kind = Kind::stream;
  facts.slots = std::min(facts.slots, count);
  return facts;
}

class Take final : public Node {
 public:
  Take(const Node::Ref& input, int64_t count) : Node(facts_of(input, count)), count_(count) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override { return input().bind(binding); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<TakeIterator>(feed.open(input(), binding), count_);
  }

 private:
  const int64_t count_;
};

}  // namespace

Step take(int64_t count) {
  return [count](const Dataset& input) {
    return Dataset(std::make_shared<Take>(input.node(), count < 0 ? kEndless : count));
  };
}

}  // namespace headpond
