// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/source/in_memory.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond::internal {
namespace {

// Nodes in `seen` do not wait.
bool waits_within(const Node& node, std::set<const Node*>& seen) {
  if (!seen.insert(&node).second) return false;
  const auto& inputs = node.facts().inputs;
  return node.facts().blocking ||
         std::any_of(inputs.begin(), inputs.end(), [&](const Node::Ref& input) { return waits_within(*input, seen); });
}

bool waits_within(const Node& node) {
  std::set<const Node*> seen;
  return waits_within(node, seen);
}

// True iff `node` cannot run in one stage with the operators that it reads from: their elements have no positions, or
// one of them blocks and `node` does not. A blocking operator would keep a compute thread from computing.
bool stands_alone(const Node& node) {
  if (node.iterates()) return true;
  return !node.facts().blocking && waits_within(node.input());
}

const Pointwise* pointwise(const Node& node) { return dynamic_cast<const Pointwise*>(&node); }

// A longer name is cut: an operator can use its inputs so often that all names do not fit into memory.
constexpr size_t kMostName = 16 << 10;

// All operators down to the sources, or down to `end`, each as `text` has it; no further ones once it is too long.
template <class Text>
void append_names(const Node& node, const Node* end, const Text& text, std::string& names) {
  if (&node == end) return;
  const auto& inputs = node.facts().inputs;
  for (size_t i = 0; i < inputs.size() && names.size() <= kMostName; ++i) {
    if (i > 0 && !names.empty()) names += ",";
    append_names(*inputs[i], end, text, names);
  }
  if (!names.empty() && names.back() != ',') names += "|";
  names += text(node);
}

template <class Text>
std::string all_names(const Node& node, const Node* end, const Text& text) {
  std::string names;
  append_names(node, end, text, names);
  return names.size() > kMostName ? names.substr(0, kMostName) + "..." : names;
}

template <class Text>
std::string names_of(const Stage& stage, const Text& text) {
  switch (stage.mode) {
    case ExecutionMode::ahead:
      if (stage.chain.empty()) return text(*stage.node);
      return all_names(*stage.node, stage.own_iterator ? nullptr : stage.input, text);
    case ExecutionMode::in_order:
      return text(*stage.node);
    default:
      return all_names(*stage.node, nullptr, text);
  }
}

}  // namespace

Stage stage_of(const Node& node) {
  Stage stage{.node = &node};
  const Node* below = &node;
  for (const Pointwise* point = pointwise(*below); point != nullptr && stands_alone(*point);
       point = pointwise(*below)) {
    if (point->facts().blocking != node.facts().blocking) break;
    stage.chain.insert(stage.chain.begin(), point);
    below = &point->input();
  }
  const auto* const batching = dynamic_cast<const Batching*>(&node);
  if (!stage.chain.empty()) {
    stage.mode = ExecutionMode::ahead;
    stage.input = below;
    stage.blocking = node.facts().blocking;
    stage.own_iterator =
        below->iterates() && below->facts().inputs.empty() && (stage.blocking || !below->facts().blocking);
  } else if (batching != nullptr) {
    const Node& input = node.input();
    const bool cut = pointwise(input) != nullptr && stands_alone(input);
    stage.mode =
        input.kind() == Kind::indexed && !input.iterates() && !cut ? ExecutionMode::rows : ExecutionMode::ahead;
    stage.batching = stage.mode == ExecutionMode::rows ? batching : nullptr;
    stage.blocking = stage.mode == ExecutionMode::rows && waits_within(input);
  } else if (!node.iterates()) {
    stage.mode = ExecutionMode::positions;
    stage.blocking = waits_within(node);
  } else if (node.facts().inputs.empty() || node.facts().computes) {
    stage.mode = ExecutionMode::ahead;
  }
  if (stage.mode == ExecutionMode::ahead && stage.chain.empty()) {
    stage.input = &node;
    stage.own_iterator = true;
    stage.blocking = node.facts().blocking;
  }
  return stage;
}

std::string name_of(const Stage& stage) {
  return names_of(stage, [](const Node& node) { return node.facts().op; });
}

std::string titles_of(const Stage& stage) {
  return names_of(stage, [](const Node& node) { return node.title(); });
}

int64_t element_bytes(const Spec& spec) {
  int64_t bytes = 0;
  for (const FieldSpec& field : spec) {
    const std::optional<int64_t> size = field.shape.size();
    if (!size || field.dtype == DType::bytes) return -1;
    int64_t of_field = 0;
    if (__builtin_mul_overflow(*size, static_cast<int64_t>(item_size(field.dtype)), &of_field) ||
        __builtin_add_overflow(bytes, of_field, &bytes)) {
      return -1;
    }
  }
  return bytes;
}

int64_t element_bytes(const Node& node) {
  if (node.facts().role == Role::hint) return element_bytes(node.input());
  const int64_t bytes = element_bytes(node.spec());
  const auto* const batching = dynamic_cast<const Batching*>(&node);
  if (bytes >= 0 || batching == nullptr || node.input().kind() != Kind::indexed) return bytes;
  Spec whole = node.spec();
  if (whole.size() != node.input().spec().size()) return bytes;  // Not rows of these fields.
  for (size_t i = 0; i < whole.size(); ++i) {
    const int64_t rows = std::min(batching->batch_size(), node.input().slots());
    if (whole[i].shape.row() == node.input().spec()[i].shape) whole[i].shape = whole[i].shape.row().stacked(rows);
  }
  return element_bytes(whole);
}

int64_t taken_bytes(const Node& node) {
  const int64_t bytes = element_bytes(node);
  const InMemory* const source = bytes > 0 ? viewed(node) : nullptr;
  return source != nullptr ? source->copied_bytes() : bytes;
}

}  // namespace headpond::internal
