// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"

namespace headpond {
namespace {

std::string shown(int64_t count) { return count == kEndless ? "no end" : fmt::format("{} elements", count); }

Error difference(int64_t count, const std::string& found) {
  return {ErrorKind::FailedPrecondition,
          fmt::format("assert_cardinality: expected {}, the input has {}", shown(count), found)};
}

class AssertIterator final : public Iterator {
 public:
  AssertIterator(std::unique_ptr<Iterator> input, int64_t count) : input_(std::move(input)), count_(count) {}
  Got next(Context& context, Element& out) override {
    if (told_) return Got::end;
    const Got got = input_->next(context, out);
    const bool is_element = got == Got::value || got == Got::error;
    const bool differs = is_element ? given_ == count_ : got == Got::end && given_ != count_;
    if (differs) {
      out.clear();
      told_ = true;
      return context.fail(difference(count_, is_element ? "more" : shown(given_)));
    }
    if (is_element) ++given_;
    return got;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, count_);
    visitor.number(told_);
    input_->visit_state(visitor);
  }

 private:
  const std::unique_ptr<Iterator> input_;
  const int64_t count_;
  int64_t given_ = 0;
  bool told_ = false;  // The error, after which comes the end.
};

class AssertCardinality final : public Node {
 public:
  AssertCardinality(Facts facts, int64_t count) : Node(std::move(facts)), count_(count) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    check_slots();
    return view_of(input(), binding);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    check_slots();
    auto opened = feed.open(input(), binding);
    if (kind() == Kind::indexed) return opened;
    return std::make_unique<AssertIterator>(std::move(opened), count_);
  }

 private:
  // Throws if the input knows another number: what is above this may never ask for it.
  void check_slots() const { (void)slots(); }

  const int64_t count_;
};

}  // namespace

Step assert_cardinality(int64_t count) {
  if (count < 0) count = kEndless;
  return [count](const Dataset& input) {
    const std::string args = count == kEndless ? "count=-1" : fmt::format("count={}", count);
    Node::Facts facts = facts_over(input.node(), "assert_cardinality", args, input.spec());
    facts.is_of_library = true;
    if (facts.kind == Kind::indexed) {
      facts.slots = facts.slots.then([count](int64_t slots) {
        if (slots != count) throw Exception(difference(count, shown(slots)));
        return slots;
      });
    } else {
      facts.kind = Kind::stream;
      facts.slots = count;
    }
    return Dataset(std::make_shared<AssertCardinality>(std::move(facts), count));
  };
}

}  // namespace headpond
