// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/parse/parse_step_internal.h"

namespace headpond::internal {
namespace {

// Nothing that a fill lends outlives it, whether it succeeds or not: the view may not live longer.
class ForgetLent {
 public:
  explicit ForgetLent(Context& context) : context_(context) { context_.forget_lent(); }
  ~ForgetLent() { context_.forget_lent(); }
  ForgetLent(const ForgetLent&) = delete;
  ForgetLent& operator=(const ForgetLent&) = delete;

 private:
  Context& context_;
};

// `fields` in place of field `index`.
Spec replaced(const Spec& spec, size_t index, const Spec& fields) {
  const auto at = spec.begin() + static_cast<std::ptrdiff_t>(index);
  Spec all(spec.begin(), at);
  all.insert(all.end(), fields.begin(), fields.end());
  all.insert(all.end(), at + 1, spec.end());
  return all;
}

Node::Facts facts_of(const Node::Ref& input, std::string label, Spec spec) {
  Node::Facts facts = facts_over(input, "map", std::move(label), std::move(spec));
  facts.role = Role::map;
  return facts;
}

class Parse final : public Pointwise {
 public:
  Parse(const Node::Ref& input, size_t index, std::string label, Spec fields, ParseText parse)
      : Pointwise(facts_of(input, std::move(label), replaced(input->spec(), index, fields))),
        index_(index),
        fields_(std::move(fields)),
        parse_(std::move(parse)),
        all_fixed_(std::all_of(spec().begin(), spec().end(), is_fixed)) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots outputs, Element& out) const override {
    Element own;
    Element& made = index_ == 0 ? out : own;
    const OutputSlots slots = outputs.empty() ? outputs : outputs.subspan(index_, fields_.size());
    const auto targets = allocate_fields(fields_, context, slots, made);
    std::span<Tensor> parsed;
    if (made.size() > 0) parsed = {&made[0], made.size()};
    if (auto done = parse_(in[index_].bytes_at(0), targets, parsed); !done) {
      return context.fail(std::move(done).error());
    }
    for (size_t i = 0; i < index_; ++i) out.append(std::move(in[i]));
    if (index_ > 0) {
      for (Tensor& field : parsed) out.append(std::move(field));
    }
    for (size_t i = index_ + 1; i < in.size(); ++i) out.append(std::move(in[i]));
    return Got::value;
  }

  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, OutputSlots columns,
            uint64_t* keys) const override {
    std::array<std::string_view, kFillBlock> texts;
    ColumnsLeft left(columns, keys);
    if (!all_fixed_ || positions.empty()) {
      return all_fixed_ && view.fill({}, context, input_columns(columns, texts), keys);
    }
    const ForgetLent forget(context);
    while (true) {
      const size_t count = std::min(positions.size(), texts.size());
      const std::vector<OutputSlot> below = input_columns(left.columns(), texts);
      if (!view.fill(positions.first(count), context, below, left.keys())) return false;
      if (!parse_all(std::span(texts).first(count), left.columns()) || !context.lent_is_whole()) return false;
      positions = positions.subspan(count);
      if (positions.empty()) return true;
      left.pass(count);
    }
  }

 private:
  // The columns of the input: the text's goes to `texts`, the others' where they stay.
  std::vector<OutputSlot> input_columns(OutputSlots columns, std::span<std::string_view> texts) const {
    std::vector<OutputSlot> all(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(index_));
    all.push_back({reinterpret_cast<std::byte*>(texts.data()), &input().spec()[index_]});
    const OutputSlots after = columns.subspan(index_ + fields_.size());
    all.insert(all.end(), after.begin(), after.end());
    return all;
  }
  bool parse_all(std::span<const std::string_view> texts, OutputSlots columns) const {
    std::vector<std::byte*> targets;
    for (const OutputSlot& column : columns.subspan(index_, fields_.size())) targets.push_back(column.data);
    for (const std::string_view text : texts) {
      if (!parse_(text, targets, {})) return false;
      for (size_t f = 0; f < targets.size(); ++f) targets[f] += row_bytes(fields_[f]);
    }
    return true;
  }

  const size_t index_;
  const Spec fields_;
  const ParseText parse_;
  const bool all_fixed_;
};

bool is_text(const FieldSpec& field) { return field.dtype == DType::bytes && field.shape.rank() == 0; }

}  // namespace

Step parse_step(std::string label, Spec fields, ParseText parse, std::optional<std::string> field) {
  return [label = std::move(label), fields = std::move(fields), parse = std::move(parse),
          field = std::move(field)](const Dataset& input) {
    const Spec& spec = input.spec();
    const size_t index = field ? field_index("map", spec, *field) : 0;
    if (!field && (spec.size() != 1 || !is_text(spec[0]))) {
      refuse("map", fmt::format("{} takes one scalar of dtype bytes, not {}", label, to_string(spec)));
    }
    if (!is_text(spec[index])) {
      refuse("map", fmt::format("{} takes a scalar of dtype bytes, not field '{}' of {}", label, spec[index].name,
                                to_string(spec)));
    }
    check_names("map", replaced(spec, index, fields));
    const std::string whole = spec.size() == 1 ? label : fmt::format("field={}, {}", index, label);
    return Dataset(std::make_shared<Parse>(input.node(), index, whole, fields, parse));
  };
}

}  // namespace headpond::internal
