// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/migrate/in_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/migrate/same_samples_internal.h"

namespace headpond::internal {
namespace {

// Opens the inputs of `with` instead of those of `of`.
class OtherInputs final : public Feed {
 public:
  OtherInputs(const Node& of, const Node& with, Feed& feed) : of_(of), with_(with), feed_(feed) {}
  std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
    return feed_.open(other(input), binding);
  }
  void expect(const Node& input, const Binding& binding) override { feed_.expect(other(input), binding); }

 private:
  const Node& other(const Node& input) const {
    const auto& inputs = of_.facts().inputs;
    const auto found =
        std::find_if(inputs.begin(), inputs.end(), [&](const Node::Ref& one) { return one.get() == &input; });
    return found == inputs.end() ? input : with_.input(static_cast<size_t>(found - inputs.begin()));
  }

  const Node &of_, &with_;
  Feed& feed_;
};

// The iterator of a node over other inputs.
class OtherIterator final : public Iterator {
 public:
  OtherIterator(const Node& of, const Node& with, const Binding& binding, Feed& feed)
      : feed_(of, with, feed), iterator_(of.iterate(binding, feed_)) {}
  Got next(Context& context, Element& out) override { return iterator_->next(context, out); }
  void visit_state(StateVisitor& visitor) override { iterator_->visit_state(visitor); }

 private:
  OtherInputs feed_;
  const std::unique_ptr<Iterator> iterator_;
};

Node::Facts facts_in_order(const Node& plan, std::vector<Node::Ref> inputs) {
  Node::Facts facts = plan.facts();
  facts.inputs = std::move(inputs);
  facts.kind = Kind::stream;
  facts.slots = kEndless;
  facts.computes = facts.computes || dynamic_cast<const Batching*>(&plan) != nullptr;
  return facts;
}

class InOrder final : public Node {
 public:
  InOrder(Ref node, std::vector<Ref> inputs) : Node(facts_in_order(*node, std::move(inputs))), plan(std::move(node)) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<OtherIterator>(*plan, *this, binding, feed);
  }

  const Ref plan;
};

// Its own class, so that the engine applies it on all threads.
class PointwiseInOrder final : public Pointwise {
 public:
  PointwiseInOrder(Ref node, std::vector<Ref> inputs)
      : Pointwise(facts_in_order(*node, std::move(inputs))), plan(std::move(node)) {}
  Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const override {
    return static_cast<const Pointwise&>(*plan).apply(in, random_key, context, outputs, out);
  }

  const Ref plan;
};

class Rebuild {
 public:
  explicit Rebuild(std::set<const Node*> in_order) : in_order_(std::move(in_order)) {}

  Result<Node::Ref> of(const Node::Ref& node) {
    if (const auto found = done_.find(node.get()); found != done_.end()) return found->second;
    std::vector<Node::Ref> inputs;
    bool changed = in_order_.contains(node.get());
    for (const Node::Ref& input : node->facts().inputs) {
      auto other = of(input);
      if (!other) return other;
      changed = changed || *other != input;
      inputs.push_back(std::move(*other));
    }
    if (changed && !can_run_in_order(*node)) {
      return fail(ErrorKind::FailedPrecondition, fmt::format("{} cannot run in order", node->title()));
    }
    return done_[node.get()] = changed ? wrapped(node, std::move(inputs)) : node;
  }

 private:
  static Node::Ref wrapped(const Node::Ref& node, std::vector<Node::Ref> inputs) {
    if (dynamic_cast<const Pointwise*>(node.get()) != nullptr)
      return std::make_shared<PointwiseInOrder>(node, std::move(inputs));
    return std::make_shared<InOrder>(node, std::move(inputs));
  }

  const std::set<const Node*> in_order_;
  std::map<const Node*, Node::Ref> done_;
};

}  // namespace

bool can_run_in_order(const Node& node) {
  static constexpr std::array kOps = std::to_array<std::string_view>(
      {"assert_cardinality", "choose_from_datasets", "concatenate", "enumerate", "ignore_errors", "mix", "on_error",
       "repeat", "sample_from_datasets", "scan", "shard", "skip", "take", "take_while", "zip"});
  if (dynamic_cast<const Pointwise*>(&node) != nullptr || dynamic_cast<const Batching*>(&node) != nullptr) return true;
  const auto is_node = [&](std::string_view op) { return is_library_op(node, op); };
  return node.facts().role == Role::hint || std::any_of(kOps.begin(), kOps.end(), is_node);
}

std::vector<int64_t> steps_of(const Dataset& dataset, const std::set<const Node*>& nodes) {
  const std::vector<const Node*> all = nodes_of(*dataset.node());
  std::vector<int64_t> steps;
  for (size_t i = 0; i < all.size(); ++i) {
    if (nodes.contains(all[i])) steps.push_back(static_cast<int64_t>(i));
  }
  return steps;
}

Result<std::set<const Node*>> nodes_at(const Dataset& dataset, const std::vector<int64_t>& steps) {
  const std::vector<const Node*> all = nodes_of(*dataset.node());
  std::set<const Node*> nodes;
  for (const int64_t step : steps) {
    if (step < 0 || std::cmp_greater_equal(step, all.size())) {
      return fail(ErrorKind::DataLoss, fmt::format("the state has step {} of a plan of {}", step, all.size()));
    }
    nodes.insert(all[static_cast<size_t>(step)]);
  }
  return nodes;
}

Result<Dataset> run_in_order(const Dataset& dataset, const std::vector<int64_t>& steps) {
  auto nodes = nodes_at(dataset, steps);
  if (!nodes) return fail(nodes.error());
  auto root = Rebuild(std::move(*nodes)).of(dataset.node());
  if (!root) return fail(root.error());
  return Dataset(*root);
}

const Node& plan_node(const Node& node) {
  if (const auto* const in_order = dynamic_cast<const InOrder*>(&node)) return *in_order->plan;
  if (const auto* const pointwise = dynamic_cast<const PointwiseInOrder*>(&node)) return *pointwise->plan;
  return node;
}

}  // namespace headpond::internal
