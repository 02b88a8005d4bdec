// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/ops/mixing.h"
#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

class ChooseFrom final : public Node {
 public:
  ChooseFrom(Facts facts, bool may_stop) : Node(std::move(facts)), stops(may_stop) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  const bool stops;
};

class ChooseFromIterator final : public Iterator {
 public:
  ChooseFromIterator(const ChooseFrom& node, const Binding& binding, Feed& feed)
      : node_(node), holes_(*node.facts().inputs.back()) {
    for (const Node::Ref& input : node.facts().inputs) inputs_.push_back(open_resumable(feed, *input, binding));
    choices_ = std::move(inputs_.back());
    inputs_.pop_back();
    ended_.resize(inputs_.size());
  }
  Got next(Context& context, Element& out) override {
    while (!stopped_) {
      if (choice_ == kNone) {
        const Got got = choose(context, out);
        if (got != Got::value) return got;
      }
      const auto n = static_cast<size_t>(choice_);
      const Got got = ended_[n] ? Got::end : internal::from_input(n, inputs_[n]->next(context, out), out);
      if (got == Got::pending) return got;
      choice_ = kNone;
      if (got != Got::end) return holes_.count(got, context);
      ended_[n] = true;
      stopped_ = node_.stops;
      if (!stopped_ && holes_.count(Got::hole, context) == Got::error) return Got::error;
    }
    return Got::end;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(choice_, kNone, static_cast<int64_t>(inputs_.size()) - 1);
    visitor.number(stopped_);
    choices_->visit_state(visitor);
    for (size_t n = 0; n < inputs_.size(); ++n) {
      bool ended = ended_[n];
      visitor.number(ended);
      ended_[n] = ended;
      inputs_[n]->visit_state(visitor);
    }
  }

 private:
  static constexpr int64_t kNone = -1;
  // An error is in the place of the element that was to be chosen.
  Got choose(Context& context, Element& out) {
    Element chosen;
    const Got got = choices_->next(context, chosen);
    out.key = chosen.key;
    out.provenance = chosen.provenance;
    if (got != Got::value) return got;
    const auto choice = chosen[size_t{0}].item<int64_t>();
    if (choice < 0 || std::cmp_greater_equal(choice, inputs_.size())) {
      return context.fail({ErrorKind::InvalidArgument,
                           fmt::format("choose_from_datasets, {}: choice {} of {} datasets",
                                       element_name(chosen.key, chosen.provenance), choice, inputs_.size())});
    }
    choice_ = choice;
    return got;
  }

  const ChooseFrom& node_;
  std::vector<std::unique_ptr<Iterator>> inputs_;
  std::unique_ptr<Iterator> choices_;
  std::vector<bool> ended_;
  int64_t choice_ = kNone;  // Made, and its element is not given yet.
  bool stopped_ = false;
  internal::Holes holes_;  // Choices of a dataset that has ended.
};

std::unique_ptr<Iterator> ChooseFrom::iterate(const Binding& binding, Feed& feed) const {
  return std::make_unique<ChooseFromIterator>(*this, binding, feed);
}

}  // namespace

Dataset choose_from_datasets(const std::vector<Dataset>& datasets, const Dataset& choices,
                             const ChooseFromOptions& options) {
  Node::Facts facts = internal::joined_facts("choose_from_datasets", datasets);
  const Spec& spec = choices.spec();
  if (spec.size() != 1 || spec[0].dtype != DType::i64 || spec[0].shape.rank() != 0) {
    refuse(facts.op, "the choices must be one int64 scalar, not " + to_string(spec));
  }
  facts.args += fmt::format(", stop_on_empty_dataset={}", options.stop_on_empty_dataset);
  facts.kind = Kind::stream;
  facts.slots = choices.node()->facts().slots;
  facts.inputs.push_back(choices.node());
  return Dataset(std::make_shared<ChooseFrom>(std::move(facts), options.stop_on_empty_dataset));
}

}  // namespace headpond
