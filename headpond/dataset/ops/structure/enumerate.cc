// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "headpond/dataset/bases/choosing.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/structure.h"

namespace headpond {
namespace {

// Puts start + i in front of the other fields.
Got number(int64_t start, int64_t i, Context& context, OutputSlots outputs, Element& out) {
  Element in = std::exchange(out, Element());
  int64_t index = 0;
  if (__builtin_add_overflow(start, i, &index)) {
    return context.fail(Error(ErrorKind::OutOfRange, fmt::format("enumerate(start={}): no number for {}", start, i)));
  }
  std::memcpy(context.allocate_output(out, outputs, DType::i64, {}), &index, sizeof(index));
  for (size_t field = 0; field < in.size(); ++field) out.append(std::move(in[field]));
  out.key = in.key;
  out.provenance = in.provenance;
  return Got::value;
}

class EnumerateView final : public View {
 public:
  EnumerateView(std::shared_ptr<const View> input, int64_t start) : input_(std::move(input)), start_(start) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const OutputSlots first = take_first(outputs, 1);
    const Got got = input_->at(i, context, outputs, out);
    return got == Got::value ? number(start_, i, context, first, out) : got;
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    for (size_t r = 0; r < positions.size(); ++r) {
      int64_t index = 0;
      if (__builtin_add_overflow(start_, positions[r], &index)) return false;
      std::memcpy(columns[0].data + r * sizeof(index), &index, sizeof(index));
    }
    return input_->fill(positions, context, columns.empty() ? columns : columns.subspan(1), keys);
  }

 private:
  const std::shared_ptr<const View> input_;
  const int64_t start_;
};

struct Numbering {
  int64_t start;

  Got change(int64_t i, Context& context, Element& out) const { return number(start, i, context, {}, out); }
  std::shared_ptr<const View> view(std::shared_ptr<const View> input) const {
    return std::make_shared<EnumerateView>(std::move(input), start);
  }
};

}  // namespace

Step enumerate(int64_t start) {
  return [start](const Dataset& input) {
    Node::Facts facts = counting_facts(input.node(), "enumerate", fmt::format("start={}", start));
    facts.is_of_library = true;
    facts.spec.insert(facts.spec.begin(), {"index", DType::i64, {}});
    check_names("enumerate", facts.spec);
    facts.slots = facts.slots.then([start](int64_t slots) {
      if (slots != kEndless && start > kEndless - slots) {
        refuse("enumerate", fmt::format("start={} and {} elements go beyond 2^63 - 1", start, slots));
      }
      return slots;
    });
    return Dataset(std::make_shared<Choosing<Numbering>>(std::move(facts), Numbering{start}));
  };
}

}  // namespace headpond
