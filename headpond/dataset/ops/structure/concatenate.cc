// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond {
namespace {

class ConcatenateView final : public View {
 public:
  ConcatenateView(const Node& node, const Binding& binding) {
    int64_t end = 0;
    for (const Node::Ref& input : node.facts().inputs) {
      end = input->slots() > kEndless - end ? kEndless : end + input->slots();
      ends_.push_back(end);
      inputs_.push_back(input->bind(binding));
    }
  }
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto part = part_at(i);
    const auto& input = inputs_[static_cast<size_t>(part.number)];
    return internal::in_part(part.number, input->at(i - part.begin, context, outputs, out), out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const auto fills = [&](const auto& input) { return input->fill({}, context, columns, keys); };
    if (positions.empty()) return std::all_of(inputs_.begin(), inputs_.end(), fills);
    const auto part = [this](int64_t i) { return part_at(i); };
    const auto view = [this](int64_t n) { return inputs_[static_cast<size_t>(n)]; };
    return internal::fill_parts(part, view, positions, context, columns, keys);
  }

 private:
  internal::PartRange part_at(int64_t i) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), i);
    const int64_t begin = end == ends_.begin() ? 0 : end[-1];
    return {end - ends_.begin(), begin, *end - begin};
  }

  std::vector<int64_t> ends_;  // Where the next input begins.
  std::vector<std::shared_ptr<const View>> inputs_;
};

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

bool is_endless(const Dataset& input) { return input.node()->slots() == kEndless; }

Node::Facts facts_of(const std::vector<Dataset>& inputs) {
  if (inputs.empty()) internal::refuse("concatenate", "no inputs");
  Node::Facts facts{.op = "concatenate", .args = fmt::format("inputs={}", inputs.size()), .spec = inputs[0].spec()};
  for (const Dataset& input : inputs) {
    facts.spec = joined(facts.spec, input.spec());
    facts.kind = std::max(facts.kind, input.kind());
    facts.inputs.push_back(input.node());
    facts.slots = input.node()->slots() > kEndless - facts.slots ? kEndless : facts.slots + input.node()->slots();
  }
  const bool too_many = std::none_of(inputs.begin(), inputs.end(), is_endless) && facts.slots == kEndless;
  if (too_many && facts.kind != Kind::stream) internal::refuse("concatenate", "more than 2^63 - 2 elements together");
  return facts;
}

class Concatenate final : public internal::Parts {
 public:
  explicit Concatenate(const std::vector<Dataset>& inputs) : Parts(facts_of(inputs)) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<ConcatenateView>(*this, binding);
  }
  int64_t parts() const override { return static_cast<int64_t>(facts().inputs.size()); }
  std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const override {
    return {&input(static_cast<size_t>(n)), binding};
  }
};

}  // namespace

Dataset concatenate(const std::vector<Dataset>& inputs) { return Dataset(std::make_shared<Concatenate>(inputs)); }

Step concatenate(Dataset second) {
  return [second = std::move(second)](const Dataset& first) { return concatenate({first, second}); };
}

}  // namespace headpond
