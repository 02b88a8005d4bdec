// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/ops/structure.h"
#include "headpond/dataset/ops/structure/parts_internal.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

Node::Facts facts_of(const Node::Ref& input, int64_t count) {
  Node::Facts facts = internal::facts_over(input, "repeat", fmt::format("count={}", count), input->spec());
  // Positions that never end and are all holes would be looked through for ever; an iterator notices.
  if (facts.kind == Kind::sparse && count < 0) facts.kind = Kind::stream;
  if (facts.slots == 0 || count == 0) {
    facts.slots = 0;
  } else if (facts.slots == kEndless || count < 0) {
    facts.slots = kEndless;
  } else if (__builtin_mul_overflow(facts.slots, count, &facts.slots) || facts.slots == kEndless) {
    facts.slots = kEndless;
    if (facts.kind == Kind::stream) return facts;
    internal::refuse("repeat", fmt::format("{} times {} is more than 2^63 - 2 elements", count, input->slots()));
  }
  return facts;
}

class Repeat final : public internal::Parts {
 public:
  Repeat(const Node::Ref& input, int64_t count) : Parts(facts_of(input, count)), count_(count) {}

  std::shared_ptr<const View> bind(const Binding& binding) const override;
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

 private:
  const int64_t count_;
};

class RepeatView final : public View {
 public:
  RepeatView(const Repeat& node, const Binding& binding) : node_(node), binding_(binding) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const int64_t slots = node_.input().slots(), round = i / slots;
    return internal::in_part(round, view(round, context)->at(i % slots, context, outputs, out), out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const auto of_round = [&](int64_t round) { return view(round, context); };
    if (positions.empty()) return of_round(0)->fill({}, context, columns, keys);
    const int64_t slots = node_.input().slots();
    const auto round_at = [slots](int64_t i) { return internal::PartRange{i / slots, i - i % slots, slots}; };
    return internal::fill_parts(round_at, of_round, positions, context, columns, keys);
  }

 private:
  std::shared_ptr<const View> view(int64_t round, Context& context) const {
    return context.view(node_.input(), node_.part(round, binding_).second);
  }

  const Repeat& node_;
  const Binding binding_;
};

std::shared_ptr<const View> Repeat::bind(const Binding& binding) const {
  return std::make_shared<RepeatView>(*this, binding);
}

}  // namespace

Step repeat(int64_t count) {
  return
      [count](const Dataset& input) { return Dataset(std::make_shared<Repeat>(input.node(), count < 0 ? -1 : count)); };
}

}  // namespace headpond
