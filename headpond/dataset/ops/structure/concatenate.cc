// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond {
namespace {

Spec joined(const Spec& first, const Spec& second) {
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
  if (!agree) internal::refuse("concatenate", fmt::format("{} cannot follow {}", to_string(second), to_string(first)));
  return both;
}

int64_t sum(int64_t slots, int64_t more) { return more > kEndless - slots ? kEndless : slots + more; }
bool is_endless(const Dataset& input) { return input.node()->slots() == kEndless; }

Node::Facts facts_of(const std::vector<Dataset>& inputs) {
  if (inputs.empty()) internal::refuse("concatenate", "no inputs");
  Node::Facts facts{.op = "concatenate", .args = fmt::format("inputs={}", inputs.size()), .spec = inputs[0].spec()};
  for (const Dataset& input : inputs) {
    facts.spec = joined(facts.spec, input.spec());
    facts.kind = std::max(facts.kind, input.kind());
    facts.inputs.push_back(input.node());
    facts.slots = sum(facts.slots, input.node()->slots());
  }
  const bool too_many = std::none_of(inputs.begin(), inputs.end(), is_endless) && facts.slots == kEndless;
  if (too_many && facts.kind != Kind::stream) internal::refuse("concatenate", "more than 2^63 - 2 elements together");
  return facts;
}

class Concatenate final : public internal::Parts {
 public:
  explicit Concatenate(const std::vector<Dataset>& inputs) : Parts(facts_of(inputs)) {
    int64_t end = 0;
    for (const Dataset& input : inputs) ends_.push_back(end = sum(end, input.node()->slots()));
  }
  int64_t parts() const override { return static_cast<int64_t>(ends_.size()); }
  std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const override {
    return {&input(static_cast<size_t>(n)), binding};
  }
  internal::PartRange part_at(int64_t i) const override {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), i);
    const int64_t begin = end == ends_.begin() ? 0 : end[-1];
    return {end - ends_.begin(), begin, *end - begin};
  }

 private:
  std::vector<int64_t> ends_;  // Where the next input begins.
};

}  // namespace

Dataset concatenate(const std::vector<Dataset>& inputs) { return Dataset(std::make_shared<Concatenate>(inputs)); }

Step concatenate(Dataset second) {
  return [second = std::move(second)](const Dataset& first) { return concatenate({first, second}); };
}

}  // namespace headpond
