// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "headpond/base/crc32c.h"
#include "headpond/base/random.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/picking_internal.h"

namespace headpond {
namespace {

using Indices = std::vector<int64_t>;

// For each index, how often it occurs before; empty if none occurs twice.
Indices earlier_of(const Indices& indices) {
  std::unordered_map<int64_t, int64_t> seen;
  Indices earlier;
  earlier.reserve(indices.size());
  for (const int64_t index : indices) earlier.push_back(seen[index]++);
  return seen.size() == indices.size() ? Indices() : earlier;
}

struct Selected {
  const Indices& indices;
  const Indices& earlier;

  int64_t position(int64_t i) const { return indices[static_cast<size_t>(i)]; }
  uint64_t key(int64_t i, uint64_t key) const {
    const int64_t times = earlier.empty() ? 0 : earlier[static_cast<size_t>(i)];
    return times == 0 ? key : mix(key, static_cast<uint64_t>(times));
  }
};

Node::Facts facts_of(const Node::Ref& input, const Indices& indices) {
  if (input->kind() != Kind::indexed) refuse("select", "the input must have positions without holes");
  const auto sum = crc32c(std::as_bytes(std::span(indices)));
  Node::Facts facts =
      facts_over(input, "select", fmt::format("indices={}, crc32c {:08x}", indices.size(), sum), input->spec());
  const int64_t most = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
  facts.slots = facts.slots.then([most, count = static_cast<int64_t>(indices.size())](int64_t slots) {
    if (most >= slots) refuse("select", fmt::format("index {} of an input of {} elements", most, slots));
    return count;
  });
  facts.role = Role::choice;
  return facts;
}

class Select final : public Node {
 public:
  Select(const Node::Ref& input, const Indices& indices)
      : Node(facts_of(input, indices)), indices_(indices), earlier_(earlier_of(indices)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    return std::make_shared<internal::PickView<Selected>>(view_of(input(), binding), Selected{indices_, earlier_});
  }
  bool iterates() const override { return false; }

 private:
  const Indices indices_;
  const Indices earlier_;
};

}  // namespace

Step select(std::vector<int64_t> indices) {
  const auto negative = std::find_if(indices.begin(), indices.end(), [](int64_t index) { return index < 0; });
  if (negative != indices.end()) refuse("select", fmt::format("index {}: must be at least 0", *negative));
  return [indices = std::move(indices)](const Dataset& input) {
    check_reads_positions("select", *input.node());
    return Dataset(std::make_shared<Select>(input.node(), indices));
  };
}

}  // namespace headpond
