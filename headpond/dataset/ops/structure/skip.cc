// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

class SkipView final : public View {
 public:
  SkipView(std::shared_ptr<const View> input, int64_t count) : input_(std::move(input)), count_(count) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    if (const int64_t behind = place(i); behind >= 0) return input_->at(behind, context, outputs, out);
    return context.fail(Error(ErrorKind::OutOfRange, fmt::format("skip(count={}): no place {} behind it", count_, i)));
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const auto behind = internal::each_place([this](int64_t i) { return place(i); });
    return internal::fill_from(*input_, behind, positions, context, columns, keys);
  }

 private:
  int64_t place(int64_t i) const {
    int64_t behind = 0;
    return __builtin_add_overflow(i, count_, &behind) ? -1 : behind;
  }

  const std::shared_ptr<const View> input_;
  const int64_t count_;
};

class SkipIterator final : public Iterator {
 public:
  SkipIterator(std::unique_ptr<Iterator> input, int64_t count) : input_(std::move(input)), count_(count) {}

  Got next(Context& context, Element& out) override {
    if (count_ == kEndless) return Got::end;
    for (; skipped_ < count_; ++skipped_) {
      const Got got = input_->next(context, out);
      if (got != Got::value) return got;
      out.clear();
    }
    return input_->next(context, out);
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(skipped_, 0, count_);
    input_->visit_state(visitor);
  }

 private:
  const std::unique_ptr<Iterator> input_;
  const int64_t count_;
  int64_t skipped_ = 0;
};

Node::Facts facts_of(const Node::Ref& input, int64_t count) {
  Node::Facts facts = internal::facts_over(input, "skip", fmt::format("count={}", count), input->spec());
  if (facts.kind == Kind::sparse) facts.kind = Kind::stream;
  if (count == kEndless) {
    facts.slots = 0;
  } else if (facts.slots != kEndless) {
    facts.slots = std::max(facts.slots - count, int64_t{0});
  }
  return facts;
}

class Skip final : public Node {
 public:
  Skip(const Node::Ref& input, int64_t count) : Node(facts_of(input, count)), count_(count) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<SkipView>(input().bind(binding), count_);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<SkipIterator>(feed.open(input(), binding), count_);
  }

 private:
  const int64_t count_;
};

}  // namespace

Step skip(int64_t count) {
  return [count](const Dataset& input) {
    return Dataset(std::make_shared<Skip>(input.node(), count < 0 ? kEndless : count));
  };
}

}  // namespace headpond
