// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/parts_internal.h"

namespace headpond {
namespace {

Node::Facts facts_of(const Node::Ref& input, int64_t count) {
  Node::Facts facts = facts_over(input, "repeat", fmt::format("count={}", count), input->spec());
  facts.role = Role::repeat;
  facts.is_of_library = true;
  // A search through endless positions that are all holes would not return; an iterator notices.
  if (facts.kind == Kind::sparse && count < 0) facts.kind = Kind::stream;
  facts.slots = facts.slots.then([count, is_stream = facts.kind == Kind::stream](int64_t slots) {
    if (slots == 0 || count == 0) return int64_t{0};
    int64_t all = kEndless;
    if (slots == kEndless || count < 0) return kEndless;
    if (!__builtin_mul_overflow(slots, count, &all) && all != kEndless) return all;
    if (is_stream) return kEndless;
    refuse("repeat", fmt::format("{} times {} is more than 2^63 - 2 elements", count, slots));
  });
  return facts;
}

class Repeat final : public internal::Parts {
 public:
  Repeat(const Node::Ref& input, int64_t count) : Parts(facts_of(input, count)), count_(count) {}

  int64_t parts() const override { return slots() == 0 ? 0 : (count_ < 0 ? kEndless : count_); }
  std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const override {
    const auto round = static_cast<uint64_t>(n);
    Binding below = binding;
    if (count_ >= 0) {
      below.epoch = binding.epoch * static_cast<uint64_t>(count_) + round;
    } else if (round > 0) {
      below.epoch = mix(binding.epoch, round);
    }
    return {&input(), below};
  }
  internal::PartRange part_at(int64_t i) const override {
    const int64_t slots = input().slots();
    return {i / slots, i - i % slots, slots};
  }

 private:
  const int64_t count_;
};

}  // namespace

Step repeat(int64_t count) {
  return
      [count](const Dataset& input) { return Dataset(std::make_shared<Repeat>(input.node(), count < 0 ? -1 : count)); };
}

}  // namespace headpond
