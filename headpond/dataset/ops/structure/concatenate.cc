// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/dataset/bases/joined_internal.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond {
namespace {

Node::Facts facts_of(const std::vector<Dataset>& inputs) {
  Node::Facts facts = internal::joined_facts("concatenate", inputs);
  facts.slots = slots_of_all(facts.inputs, 0, [is_stream = facts.kind == Kind::stream](int64_t slots, int64_t more) {
    const bool too_many = slots != kEndless && more != kEndless && more > kEndless - 1 - slots;
    if (too_many && !is_stream) refuse("concatenate", "more than 2^63 - 2 elements together");
    return internal::sum_of_slots(slots, more);
  });
  return facts;
}

class Concatenate final : public internal::Parts {
 public:
  explicit Concatenate(const std::vector<Dataset>& inputs) : Parts(facts_of(inputs)) {}
  int64_t parts() const override { return static_cast<int64_t>(facts().inputs.size()); }
  std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const override {
    return {&input(static_cast<size_t>(n)), binding};
  }
  internal::PartRange part_at(int64_t i) const override {
    const std::vector<int64_t>& ends = ends_.get();
    const auto end = std::upper_bound(ends.begin(), ends.end(), i);
    const int64_t begin = end == ends.begin() ? 0 : end[-1];
    return {end - ends.begin(), begin, *end - begin};
  }

 private:
  // Where the next input begins.
  const Lazy<std::vector<int64_t>> ends_{[this] {
    std::vector<int64_t> ends;
    for (const Node::Ref& input : facts().inputs)
      ends.push_back(internal::sum_of_slots(ends.empty() ? 0 : ends.back(), input->slots()));
    return ends;
  }};
};

}  // namespace

Dataset concatenate(const std::vector<Dataset>& inputs) { return Dataset(std::make_shared<Concatenate>(inputs)); }

Step concatenate(Dataset second) {
  return [second = std::move(second)](const Dataset& first) { return concatenate({first, second}); };
}

}  // namespace headpond
