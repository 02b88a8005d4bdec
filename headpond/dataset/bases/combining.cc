// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/combining.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "headpond/dataset/bases/reread_input.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

class ViewElements final : public InputElements {
 public:
  ViewElements(int64_t slots, const View& view, Context& context)
      : InputElements(slots, 0, slots, context), view_(view) {}

 private:
  Got read(int64_t i, Context& context, Element& element) override {
    return internal::ask(view_, i, context, {}, element);
  }

  const View& view_;
};

class CombiningView final : public View {
 public:
  CombiningView(const Combining& node, const Binding& binding)
      : node_(node), input_(view_of(node.input(), binding)), random_key_(node.random_key(binding)) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    ViewElements elements(node_.input().slots(), *input_, context);
    bool input_failed = false;
    return node_.run(i, elements, random_key_, context, outputs, out, input_failed);
  }

 private:
  const Combining& node_;
  const std::shared_ptr<const View> input_;
  const RandomKey random_key_;
};

// The elements of a stream from a number on, as far as they were read.
class Held {
 public:
  Held(std::unique_ptr<Iterator> input, int64_t reach) : input_(std::move(input), reach) {}

  Got at(int64_t i, Context& context, Element& element) {
    while (input_.is_rereading() || input_.read() <= i) {
      Element one;
      const Got got = input_.next(context, one);
      if (got == Got::hole) continue;
      if (got != Got::value) return got;
      if (input_.read() > first_) held_.push_back(std::move(one));
    }
    element = held_[static_cast<size_t>(i - first_)];
    return Got::value;
  }
  void drop_first() {
    if (!held_.empty()) held_.pop_front();
    input_.release_before(++first_);
  }
  /// The number of the first one.
  int64_t first() const { return first_; }
  void visit_state(StateVisitor& visitor) {
    visitor.number_within(first_, 0, kEndless);
    input_.visit_state(visitor);
    if (visitor.is_restoring() && input_.read() > first_) visitor.refuse();
  }

 private:
  RereadInput input_;
  std::deque<Element> held_;
  int64_t first_ = 0;
};

class StreamElements final : public InputElements {
 public:
  StreamElements(int64_t slots, Held& held, int64_t reach, Context& context)
      : InputElements(slots, held.first(), held.first() + reach, context), held_(held) {}

 private:
  Got read(int64_t i, Context& context, Element& element) override { return held_.at(i, context, element); }

  Held& held_;
};

class CombiningIterator final : public Iterator {
 public:
  CombiningIterator(const Combining& node, std::unique_ptr<Iterator> input, int64_t reach, RandomKey random_key)
      : node_(node),
        slots_(node.input().slots()),
        reach_(reach),
        random_key_(random_key),
        held_(std::move(input), reach),
        holes_(node) {}

  Got next(Context& context, Element& out) override {
    while (true) {
      StreamElements elements(slots_, held_, reach_, context);
      bool input_failed = false;
      Got got = node_.run(held_.first(), elements, random_key_, context, {}, out, input_failed);
      if (got == Got::pending || got == Got::end || input_failed) return got;
      held_.drop_first();
      if (got = holes_.count(got, context); got != Got::hole) return got;
      out.clear();
    }
  }
  void visit_state(StateVisitor& visitor) override { held_.visit_state(visitor); }

 private:
  const Combining& node_;
  const int64_t slots_, reach_;
  const RandomKey random_key_;
  Held held_;
  internal::Holes holes_;
};

Node::Facts checked(Node::Facts facts, int64_t reach) {
  if (reach < 1) refuse(facts.op, fmt::format("a reach of {}: at least 1 is needed", reach));
  facts.computes = true;
  if (facts.kind != Kind::stream) check_reads_positions(facts.op, *facts.inputs[0]);
  return facts;
}

}  // namespace

Got InputElements::at(int64_t i, Element& element) {
  failed_ = false;
  if (i < from_ || i >= to_) {
    return context_.fail({ErrorKind::OutOfRange, fmt::format("{}{} of its input, and may ask for {} to {}",
                                                             internal::kAskedBeyond, i, from_, to_ - 1)});
  }
  const Got got = read(i, context_, element);
  failed_ = got == Got::error;
  if (got == Got::value && !std::exchange(has_first_, true)) {
    first_key_ = element.key;
    first_provenance_ = element.provenance;
  }
  return got;
}

Combining::Combining(Facts facts, int64_t reach) : Node(checked(std::move(facts), reach)), reach_(reach) {}

std::shared_ptr<const View> Combining::bind(const Binding& binding) const {
  if (kind() == Kind::stream) return Node::bind(binding);
  return std::make_shared<CombiningView>(*this, binding);
}

std::unique_ptr<Iterator> Combining::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<CombiningIterator>(*this, feed.open(input(), binding), reach_, random_key(binding));
}

Got Combining::run(int64_t i, InputElements& input, RandomKey random_key, Context& context, OutputSlots outputs,
                   Element& out, bool& input_failed) const {
  Got got = Got::error;
  try {
    got = combine(i, input, random_key, context, outputs, out);
  } catch (...) {
    context.error = current_exception_error();
    input.failed_ = false;
  }
  out.key = input.first_key_;
  out.provenance = input.first_provenance_;
  if (got == Got::value || got == Got::hole) return got;
  out.clear();
  input_failed = got == Got::error && input.failed_;
  if (got != Got::error || input_failed) return got;
  const std::string name = input.has_first_ ? element_name(out.key, out.provenance) : fmt::format("element {}", i);
  return context.fail(
      Error(context.error.kind(), fmt::format("{}, {}: {}", title(), name, context.error.message()), context.error));
}

}  // namespace headpond
