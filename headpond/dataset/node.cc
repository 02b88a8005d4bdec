// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace headpond {
namespace {

// How often `name` is the name of a random stream of a node and its inputs; an input counts each time that it is used.
class StreamCount {
 public:
  explicit StreamCount(const std::string& name) : name_(name) {}
  uint32_t of(const Node& top) {
    const Node* node = &top;
    uint32_t count = own(*node);
    for (; node->facts().inputs.size() == 1; count += own(*node)) node = node->facts().inputs[0].get();
    return node->facts().inputs.empty() ? count : count + of_inputs(*node);
  }

 private:
  uint32_t own(const Node& node) const {
    const auto& streams = node.facts().random_streams;
    return static_cast<uint32_t>(std::count(streams.begin(), streams.end(), name_));
  }
  uint32_t of_inputs(const Node& node) {
    const auto known = counts_.find(&node);
    if (known != counts_.end()) return known->second;
    uint32_t count = 0;
    for (const Node::Ref& input : node.facts().inputs) count += of(*input);
    return counts_[&node] = count;
  }

  const std::string& name_;
  std::map<const Node*, uint32_t> counts_;  // Of the inputs, of nodes with several: those below may be met again.
};

// Nodes in `seen` do not decide in order.
bool decides_in_order(const Node& node, std::set<const Node*>& seen) {
  if (!seen.insert(&node).second || !node.iterates()) return false;
  const auto& inputs = node.facts().inputs;
  return node.facts().decides_in_order || std::any_of(inputs.begin(), inputs.end(), [&](const Node::Ref& input) {
           return decides_in_order(*input, seen);
         });
}

void list(const Node& node, std::set<const Node*>& seen, std::vector<const Node*>& nodes) {
  if (!seen.insert(&node).second) return;
  for (const Node::Ref& input : node.facts().inputs) list(*input, seen, nodes);
  nodes.push_back(&node);
}

int depth_over(const Node::Facts& facts) {
  int depth = 1;
  for (const Node::Ref& input : facts.inputs) depth = std::max(depth, input->depth() + 1);
  if (depth > kMostDepth) {
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              fmt::format("{}: the dataset would be {} steps deep, and at most {} can be run: give all inputs to one "
                          "concatenate, zip or mix, and call several functions in one map",
                          facts.op, depth, kMostDepth)));
  }
  return depth;
}

[[noreturn]] void refuse_node(const Node& node, const char* what) {
  throw Exception(Error(ErrorKind::FailedPrecondition, fmt::format("{}: {}", node.facts().op, what)));
}

}  // namespace

Node::Node(Facts facts) : facts_(std::move(facts)), depth_(depth_over(facts_)) {
  const auto& streams = facts_.random_streams;
  for (auto name = streams.begin(); name != streams.end(); ++name) {
    auto count = static_cast<uint32_t>(std::count(streams.begin(), name, *name));
    StreamCount streams_below(*name);
    for (const Ref& input : facts_.inputs) count += streams_below.of(*input);
    occurrences_.push_back(count);
  }
  is_input_iterated_ =
      std::any_of(facts_.inputs.begin(), facts_.inputs.end(), [](const Ref& input) { return input->iterates(); });
}

std::string Node::text(bool with_location, bool with_data) const {
  std::vector<std::string> parts;
  if (with_location && !facts_.location.empty()) parts.push_back(facts_.location);
  if (!facts_.args.empty()) parts.push_back(facts_.args);
  if (with_data && !facts_.data.get().empty()) parts.push_back(facts_.data.get());
  for (const std::string& name : facts_.random_streams) {
    if (name != facts_.op && !facts_.args_name_streams) parts.push_back("name=" + name);
  }
  if (facts_.version != 0) parts.push_back(fmt::format("operator_version={}", facts_.version));
  return fmt::format("{}({})", facts_.op, fmt::join(parts, ", "));
}

std::string Node::title() const { return text(true, false); }
std::string Node::title_with_data() const { return text(true, true); }
std::string Node::identity() const { return text(false, true); }

RandomKey Node::random_key(const Binding& binding, size_t which) const {
  if (which >= occurrences_.size()) return {};
  return headpond::random_key(binding.seed, facts_.random_streams[which], occurrences_[which], binding.epoch);
}

std::vector<RandomKey> Node::random_keys(const Binding& binding) const {
  std::vector<RandomKey> keys;
  for (size_t which = 0; which < occurrences_.size(); ++which) keys.push_back(random_key(binding, which));
  return keys;
}

bool Node::iterates() const { return kind() == Kind::stream || is_input_iterated_; }

std::shared_ptr<const View> Node::bind(const Binding&) const { refuse_node(*this, "its elements have no positions"); }

std::shared_ptr<const View> view_of(const Node& node, const Binding& binding) {
  auto view = node.bind(binding);
  return binding.observer != nullptr ? binding.observer->see(node, std::move(view)) : view;
}

std::vector<const Node*> nodes_of(const Node& root) {
  std::set<const Node*> seen;
  std::vector<const Node*> nodes;
  list(root, seen, nodes);
  return nodes;
}

bool decides_in_order(const Node& node) {
  std::set<const Node*> seen;
  return decides_in_order(node, seen);
}

void check_reads_positions(const std::string& op, const Node& input) {
  if (input.kind() == Kind::stream || !decides_in_order(input)) return;
  throw Exception(Error(ErrorKind::InvalidArgument,
                        fmt::format("{}: reads positions, but on_error below it counts failures in order: put on_error "
                                    "after {}",
                                    op, op)));
}

std::unique_ptr<Iterator> Node::iterate(const Binding&, Feed&) const {
  refuse_node(*this, "its elements have positions");
}

}  // namespace headpond
