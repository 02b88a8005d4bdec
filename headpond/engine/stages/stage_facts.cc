// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/engine/stages/counts/operator_titles_internal.h"
#include "headpond/engine/stages/stage_facts_internal.h"

namespace headpond::internal {
namespace {

bool is(const Node& node, Role role) { return node.facts().role == role; }

bool makes_batches(const Node& node) { return is(node, Role::batch) || is(node, Role::rebatch); }

// Its elements are batches, or made of them; not those of an operator that makes or divides batches.
bool is_above_batch(const Node& node) {
  if (makes_batches(node) || is(node, Role::unbatch)) return false;
  return std::any_of(node.facts().inputs.begin(), node.facts().inputs.end(),
                     [](const Node::Ref& input) { return gives_batches(*input); });
}

// The operators that the stage runs, from the lowest on; empty if inputs meet. The engine runs what an iterator takes
// from as a stage of its own; the source of a chain that iterates itself is part of it.
std::vector<const Node*> chain_of(const Stage& stage) {
  std::vector<const Node*> chain;
  const bool is_apart = stage.mode == ExecutionMode::ahead;
  if (is_apart) {
    chain.assign(stage.chain.begin(), stage.chain.end());
    if (stage.own_iterator) chain.insert(chain.begin(), stage.input);
    return chain;
  }
  for (const Node* at = stage.node;; at = &at->input()) {
    chain.insert(chain.begin(), at);
    if (at->facts().inputs.empty()) return chain;
    if (at->facts().inputs.size() > 1) return {};
  }
}

bool repeats_itself(const Node& node) {
  return node.facts().inputs.empty() || is(node, Role::map) || is(node, Role::filter);
}

void add_prefix(const std::vector<const Node*>& chain, StageFigures& figures) {
  if (chain.empty() || !chain.front()->facts().inputs.empty()) return;
  const Node* last = nullptr;
  for (const Node* const node : chain) {
    if (node->draws() || !repeats_itself(*node) || node->kind() == Kind::stream) break;
    last = node;
    ++figures.prefix_operators;
  }
  if (last == nullptr || last->slots() == kEndless) return;
  const int64_t bytes = element_bytes(last->spec());
  if (bytes < 0) return;
  figures.prefix_element_bytes = static_cast<double>(bytes);
  figures.prefix_bytes = figures.prefix_element_bytes * static_cast<double>(last->slots());
}

OperatorName operator_name(const Node& node) { return {node.facts().op, title_of(node)}; }

// Of a chain over an iterator no sample says which operator takes most.
OperatorName top_of(const Stage& stage) {
  OperatorName top = operator_name(*stage.node);
  if (stage.chain.size() < 2) return top;
  std::vector<std::string> titles;
  titles.reserve(stage.chain.size());
  for (const Pointwise* const point : stage.chain) titles.push_back(title_of(*point));
  top.title = fmt::format("{}", fmt::join(titles, " or "));
  return top;
}

}  // namespace

bool gives_batches(const Node& node) { return makes_batches(node) || is_above_batch(node); }

StageFigures facts_of(const Stage& stage) {
  StageFigures figures;
  const std::vector<const Node*> chain = chain_of(stage);
  figures.top = top_of(stage);
  figures.serial = stage.own_iterator ? operator_name(*stage.input) : operator_name(*stage.node);
  figures.is_above_batch = is_above_batch(*stage.node);
  const auto* const files = chain.empty() ? nullptr : dynamic_cast<const FileReading*>(chain.front());
  figures.has_one_file = files != nullptr && files->file_count() == 1;
  add_prefix(chain, figures);
  return figures;
}

}  // namespace headpond::internal
