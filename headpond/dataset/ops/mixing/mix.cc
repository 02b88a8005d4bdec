// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>

#include "headpond/base/log.h"
#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/bases/resumable_input.h"
#include "headpond/dataset/ops/mixing.h"
#include "headpond/dataset/ops/mixing/shares_internal.h"

namespace headpond {
namespace {

using internal::Shares;

// Once for each reader, when the last element is asked for; of positions that may be before others are.
void log_end(const Node& node, const Shares& shares, int64_t given, uint64_t epoch) {
  log(LogLevel::info, fmt::format("{}: dataset {} of {} has no element for draw {} of epoch {}, which ends before it",
                                  node.facts().op, shares.at(given).first, node.facts().inputs.size(), given, epoch));
}

class MixView final : public View {
 public:
  MixView(const Node& node, const Binding& binding, const Shares& shares)
      : node_(node), epoch_(binding.epoch), slots_(node.slots()), shares_(shares) {
    for (const Node::Ref& input : node.facts().inputs) inputs_.push_back(view_of(*input, binding));
  }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto [n, position] = shares_.at(i);
    const Got got = internal::from_input(n, inputs_[n]->at(position, context, outputs, out), out);
    if (i == slots_ - 1 && !is_said_.exchange(true, std::memory_order_relaxed)) log_end(node_, shares_, slots_, epoch_);
    return got;
  }

 private:
  const Node& node_;
  const uint64_t epoch_;
  const int64_t slots_;
  const Shares& shares_;
  std::vector<std::shared_ptr<const View>> inputs_;
  mutable std::atomic<bool> is_said_ = false;
};

class MixIterator final : public Iterator {
 public:
  MixIterator(const Node& node, const Binding& binding, Feed& feed, const Shares& shares)
      : node_(node), epoch_(binding.epoch), shares_(shares) {
    for (const Node::Ref& input : node.facts().inputs) inputs_.push_back(open_resumable(feed, *input, binding));
  }
  Got next(Context& context, Element& out) override {
    if (ended_) return Got::end;
    const size_t n = shares_.at(next_).first;
    const Got got = internal::from_input(n, inputs_[n]->next(context, out), out);
    ended_ = got == Got::end;
    if (ended_) log_end(node_, shares_, next_, epoch_);
    if (got == Got::value || got == Got::error) ++next_;
    return got;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(next_, 0, kEndless - 1);
    visitor.number(ended_);
    for (const auto& input : inputs_) input->visit_state(visitor);
  }

 private:
  const Node& node_;
  const uint64_t epoch_;
  const Shares& shares_;
  std::vector<std::unique_ptr<Iterator>> inputs_;
  int64_t next_ = 0;
  bool ended_ = false;
};

class Mix final : public Node, public internal::InShares {
 public:
  Mix(Facts facts, const Shares& shares) : Node(std::move(facts)), shares_(shares) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (kind() == Kind::stream) return Node::bind(binding);
    return std::make_shared<MixView>(*this, binding, shares_);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<MixIterator>(*this, binding, feed, shares_);
  }
  const Shares& shares() const override { return shares_; }

 private:
  const Shares shares_;
};

Node::Facts facts_of(const std::vector<Dataset>& datasets, const std::vector<MixPhase>& schedule) {
  Node::Facts facts = internal::joined_facts("mix", datasets);
  if (schedule.empty()) refuse("mix", "an empty schedule");
  int64_t after = -1;
  for (const MixPhase& phase : schedule) {
    internal::check_weights("mix", phase.weights, datasets.size());
    if (phase.from <= after || (after < 0 && phase.from != 0)) {
      refuse("mix", fmt::format("a phase from {}: the first is from 0, and others follow", phase.from));
    }
    after = phase.from;
    facts.args += phase.from == 0 ? ", " : fmt::format(", from {} ", phase.from);
    facts.args += internal::weights_label(phase.weights);
  }
  // Positions with holes would give other shares than an iterator, which does not see the holes.
  for (const Dataset& dataset : datasets) {
    if (facts.kind == Kind::sparse && dataset.node()->iterates()) facts.kind = Kind::stream;
  }
  return facts;
}

Lazy<int64_t> slots_of(const std::vector<Node::Ref>& inputs, const Shares& shares) {
  const auto find = [inputs, shares] {
    std::vector<int64_t> slots;
    slots.reserve(inputs.size());
    for (const Node::Ref& input : inputs) slots.push_back(input->slots());
    return shares.most(slots);
  };
  for (const Node::Ref& input : inputs) {
    if (!input->facts().slots.is_known()) return Lazy<int64_t>(find);
  }
  return find();
}

}  // namespace

Dataset mix(const std::vector<Dataset>& datasets, const std::vector<MixPhase>& schedule) {
  Node::Facts facts = facts_of(datasets, schedule);
  const Shares shares(schedule);
  facts.slots = slots_of(facts.inputs, shares);
  return Dataset(std::make_shared<Mix>(std::move(facts), shares));
}

Dataset mix(const std::vector<Dataset>& datasets, const std::vector<double>& weights) {
  const std::vector<double> all = weights.empty() ? std::vector<double>(datasets.size(), 1.0) : weights;
  return mix(datasets, std::vector<MixPhase>{{0, all}});
}

}  // namespace headpond
