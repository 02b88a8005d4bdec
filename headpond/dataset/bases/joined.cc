// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headpond/dataset/bases/joined_internal.h"

namespace headpond::internal {
namespace {

Spec joined(const std::string& op, const Spec& first, const Spec& second) {
  bool agree = first.size() == second.size();
  Spec both = first;
  for (size_t i = 0; agree && i < first.size(); ++i) {
    const FieldSpec &a = first[i], &b = second[i];
    agree = a.name == b.name && a.dtype == b.dtype && a.shape.rank() == b.shape.rank();
    std::vector<int64_t> dims(a.shape.dims().begin(), a.shape.dims().end());
    for (size_t axis = 0; agree && axis < dims.size(); ++axis) {
      if (dims[axis] != b.shape.dims()[axis]) dims[axis] = kUnknown;
    }
    both[i].shape = Shape(dims);
  }
  if (!agree) refuse(op, fmt::format("{} cannot follow {}", to_string(second), to_string(first)));
  return both;
}

}  // namespace

Node::Facts joined_facts(const std::string& op, const std::vector<Dataset>& inputs) {
  if (inputs.empty()) refuse(op, "no inputs");
  Node::Facts facts{.op = op, .args = fmt::format("inputs={}", inputs.size()), .spec = inputs[0].spec()};
  facts.is_of_library = true;
  for (const Dataset& input : inputs) {
    facts.spec = joined(op, facts.spec, input.spec());
    facts.kind = std::max(facts.kind, input.kind());
    facts.inputs.push_back(input.node());
  }
  return facts;
}

void check_weights(const std::string& op, const std::vector<double>& weights, size_t count) {
  if (weights.size() != count) refuse(op, fmt::format("{} weights for {} inputs", weights.size(), count));
  double sum = 0;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0) refuse(op, fmt::format("a weight of {}", weight));
    sum += weight;
  }
  if (!(sum > 0) || !std::isfinite(sum)) refuse(op, fmt::format("the weights' sum is {}", sum));
}

std::string weights_label(const std::vector<double>& weights) {
  return fmt::format("weights={}", fmt::join(weights, " "));
}

Got from_input(size_t n, Got got, Element& out) {
  if ((got == Got::value || got == Got::error) && n > 0) out.key = mix(out.key, static_cast<uint64_t>(n));
  return got;
}

}  // namespace headpond::internal
