// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/structure.h"

namespace headpond {
namespace {

constexpr const char* kPadToCardinality = "pad_to_cardinality";

// What follows the input.
struct Padding {
  Element element;  // The mask included.
  uint64_t source = 0;

  // The padding element `number`.
  void put(int64_t number, Element& out) const {
    out = element;
    out.key = key(number);
    out.provenance = {.source = source, .record = static_cast<uint64_t>(number)};
  }
  static uint64_t key(int64_t number) {
    constexpr uint64_t kPadding = 0x70616464696e67;  // "padding"
    return mix(kPadding, static_cast<uint64_t>(number));
  }
};

void mark(Context& context, OutputSlots outputs, Element& out) {
  const bool valid = true;
  std::memcpy(context.allocate_output(out, outputs, DType::boolean, {}), &valid, sizeof(valid));
}

class PaddedView final : public View {
 public:
  PaddedView(const Node& node, const Binding& binding, const Padding& padding)
      : spec_(node.spec()), input_(view_of(node.input(), binding)), slots_(node.input().slots()), padding_(padding) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    if (i >= slots_) {
      padding_.put(i - slots_, out);
      return Got::value;
    }
    const Got got = input_->at(i, context, outputs.first(outputs.empty() ? 0 : spec_.size() - 1), out);
    if (got == Got::value) mark(context, outputs, out);
    return got;
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (positions.empty()) return input_->fill({}, context, take_first(columns, spec_.size() - 1), keys);
    ColumnsLeft left(columns, keys);
    while (true) {
      const bool is_padding = positions[0] >= slots_;
      size_t count = 1;
      while (count < positions.size() && (positions[count] >= slots_) == is_padding) ++count;
      if (is_padding) {
        fill_padding(positions.first(count), left.columns(), left.keys());
      } else if (!fill_input(positions.first(count), context, left.columns(), left.keys())) {
        return false;
      }
      positions = positions.subspan(count);
      if (positions.empty()) return true;
      left.pass(count);
    }
  }

 private:
  bool fill_input(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const {
    const OutputSlots below = take_first(columns, spec_.size() - 1);
    std::memset(columns[0].data, 1, positions.size());
    return input_->fill(positions, context, below, keys);
  }
  void fill_padding(std::span<const int64_t> positions, OutputSlots columns, uint64_t* keys) const {
    for (const OutputSlot& column : columns) {
      const size_t size = internal::row_bytes(*column.spec);
      if (column.spec->dtype != DType::bytes) {
        if (size > 0) std::memset(column.data, 0, size * positions.size());
        continue;
      }
      const std::string_view text = "";
      for (size_t r = 0; r < positions.size(); ++r)
        std::memcpy(column.data + r * size, &text, sizeof(std::string_view));
    }
    for (size_t r = 0; keys != nullptr && r < positions.size(); ++r) keys[r] = Padding::key(positions[r] - slots_);
  }

  const Spec& spec_;
  const std::shared_ptr<const View> input_;
  const int64_t slots_;
  const Padding& padding_;
};

class PaddedIterator final : public Iterator {
 public:
  PaddedIterator(std::unique_ptr<Iterator> input, int64_t count, const Padding& padding)
      : input_(std::move(input)), count_(count), padding_(padding) {}
  Got next(Context& context, Element& out) override {
    const Got got = input_->next(context, out);
    if (got == Got::value) mark(context, {}, out);
    if (got != Got::end || given_ == count_) return got;
    padding_.put(given_++, out);
    return Got::value;
  }
  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, count_);
    input_->visit_state(visitor);
  }

 private:
  const std::unique_ptr<Iterator> input_;
  const int64_t count_;
  const Padding& padding_;
  int64_t given_ = 0;
};

Node::Facts facts_of(const Node::Ref& input, int64_t cardinality, const std::string& mask_key) {
  if (cardinality < 0) refuse(kPadToCardinality, fmt::format("cardinality={}: it must not be negative", cardinality));
  if (mask_key.empty()) refuse(kPadToCardinality, "mask_key is empty");
  if (input->kind() != Kind::indexed)
    refuse(kPadToCardinality, "the number of elements of the input is not known before its end");
  Spec spec = input->spec();
  for (const FieldSpec& field : spec) {
    if (!field.shape.is_full())
      refuse(kPadToCardinality, fmt::format("no padding for the unknown dimensions of {}", to_string(spec)));
  }
  spec.push_back({mask_key, DType::boolean, {}});
  check_names(kPadToCardinality, spec);
  Node::Facts facts = facts_over(input, kPadToCardinality,
                                 fmt::format("cardinality={}, mask_key={}", cardinality, mask_key), std::move(spec));
  facts.slots = facts.slots.then([cardinality](int64_t slots) {
    if (slots == kEndless) refuse(kPadToCardinality, "the input has no end");
    if (slots > cardinality)
      refuse(kPadToCardinality, fmt::format("cardinality={}, the input has {} elements", cardinality, slots));
    return cardinality;
  });
  return facts;
}

class PadToCardinality final : public Node {
 public:
  explicit PadToCardinality(Facts facts)
      : Node(std::move(facts)), padding_{internal::zeros_of(spec()), register_source(kPadToCardinality)} {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    (void)slots();  // Refuses an input that is larger.
    return std::make_shared<PaddedView>(*this, binding, padding_);
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return std::make_unique<PaddedIterator>(feed.open(input(), binding), slots() - input().slots(), padding_);
  }

 private:
  const Padding padding_;
};

}  // namespace

Step pad_to_cardinality(int64_t cardinality, const std::string& mask_key) {
  return [cardinality, mask_key](const Dataset& input) {
    return Dataset(std::make_shared<PadToCardinality>(facts_of(input.node(), cardinality, mask_key)));
  };
}

}  // namespace headpond
