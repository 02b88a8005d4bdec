// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/base/clock.h"
#include "headpond/engine/stages/operator_costs_internal.h"

namespace headpond::internal {
namespace {

int64_t time_of(const View& view, int64_t position, Context& context) {
  Element element;
  const int64_t began = now_ns();
  view.at(position, context, {}, element);
  return now_ns() - began;
}

}  // namespace

void OperatorCosts::begin() {
  std::vector<Operator> operators;
  for (const Node* node = &top_; !node->iterates() && node->slots() > 0; node = &node->input()) {
    operators.push_back({node, node->bind(binding_)});
    if (node->facts().inputs.size() != 1) break;
  }
  std::reverse(operators.begin(), operators.end());
  operators_ = std::move(operators);
}

void OperatorCosts::sample(int64_t position, Context& context) {
  if (operators_.empty()) begin();
  int64_t below = 0;
  for (Operator& one : operators_) {
    const int64_t at = std::min(position, one.node->slots() - 1);
    const int64_t took = time_of(*one.view, at, context);
    one.ns.add(static_cast<double>(std::max(took - below, int64_t{0})));
    if (&one != &operators_.back()) below = time_of(*one.view, at, context);
  }
}

std::vector<OperatorCost> OperatorCosts::costs() const {
  std::vector<OperatorCost> all;
  for (const Operator& one : operators_) {
    if (one.ns.known()) all.push_back({one.node->facts().op, one.ns.value()});
  }
  return all;
}

}  // namespace headpond::internal
