// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/source/in_memory.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond::internal {
namespace {

bool waits_within(const Node& node) {
  const auto& inputs = node.facts().inputs;
  return node.facts().blocking ||
         std::any_of(inputs.begin(), inputs.end(), [](const Node::Ref& input) { return waits_within(*input); });
}

// True iff `node` cannot run in one stage with the operators that it reads from: their elements have no positions, or
// one of them blocks and `node` does not. A blocking operator would keep a compute thread from computing.
bool stands_alone(const Node& node) {
  if (node.iterates()) return true;
  return !node.facts().blocking && waits_within(node.input());
}

const Pointwise* pointwise(const Node& node) { return dynamic_cast<const Pointwise*>(&node); }

// All operators down to the sources, or down to `end`, each as `text` has it.
template <class Text>
void append_names(const Node& node, const Node* end, const Text& text, std::string& names) {
  if (&node == end) return;
  const auto& inputs = node.facts().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0 && !names.empty()) names += ",";
    append_names(*inputs[i], end, text, names);
  }
  if (!names.empty() && names.back() != ',') names += "|";
  names += text(node);
}

template <class Text>
std::string names_of(const Stage& stage, const Text& text) {
  std::string names;
  switch (stage.mode) {
    case ExecutionMode::ahead:
      if (stage.chain.empty()) return text(*stage.node);
      append_names(*stage.node, stage.own_iterator ? nullptr : stage.input, text, names);
      return names;
    case ExecutionMode::in_order:
      return text(*stage.node);
    default:
      append_names(*stage.node, nullptr, text, names);
      return names;
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
