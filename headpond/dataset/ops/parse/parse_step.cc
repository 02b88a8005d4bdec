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

Node::Facts facts_of(const Node::Ref& input, std::string label, Spec fields) {
  Node::Facts facts = facts_over(input, "map", std::move(label), std::move(fields));
  facts.role = Role::map;
  return facts;
}

class Parse final : public Pointwise {
 public:
  Parse(const Node::Ref& input, std::string label, Spec fields, ParseText parse)
      : Pointwise(facts_of(input, std::move(label), std::move(fields))),
        parse_(std::move(parse)),
        all_fixed_(std::all_of(spec().begin(), spec().end(), is_fixed)) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots outputs, Element& out) const override {
    const auto targets = allocate_fields(spec(), context, outputs, out);
    std::span<Tensor> fields;
    if (out.size() > 0) fields = {&out[0], out.size()};
    auto parsed = parse_(in[0].bytes_at(0), targets, fields);
    return parsed ? Got::value : context.fail(std::move(parsed).error());
  }

  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, OutputSlots columns,
            uint64_t* keys) const override {
    std::array<std::string_view, kFillBlock> texts;
    const OutputSlot texts_column = {reinterpret_cast<std::byte*>(texts.data()), &input().spec()[0]};
    const OutputSlots below(&texts_column, 1);
    if (!all_fixed_ || positions.empty()) return all_fixed_ && view.fill({}, context, below, keys);
    std::vector<std::byte*> targets;
    for (const OutputSlot& column : columns) targets.push_back(column.data);
    const ForgetLent forget(context);
    while (!positions.empty()) {
      const size_t count = std::min(positions.size(), texts.size());
      if (!view.fill(positions.first(count), context, below, keys)) return false;
      for (const std::string_view text : std::span(texts).first(count)) {
        if (!parse_(text, targets, {})) return false;
        for (size_t f = 0; f < targets.size(); ++f) targets[f] += row_bytes(spec()[f]);
      }
      if (!context.lent_is_whole()) return false;
      positions = positions.subspan(count);
      if (keys != nullptr) keys += count;
    }
    return true;
  }

 private:
  const ParseText parse_;
  const bool all_fixed_;
};

}  // namespace

Step parse_step(std::string label, Spec fields, ParseText parse) {
  return [label = std::move(label), fields = std::move(fields), parse = std::move(parse)](const Dataset& input) {
    const Spec& spec = input.spec();
    if (spec.size() != 1 || spec[0].dtype != DType::bytes || spec[0].shape.rank() != 0) {
      refuse("map", fmt::format("{} takes one scalar of dtype bytes, not {}", label, to_string(spec)));
    }
    return Dataset(std::make_shared<Parse>(input.node(), label, fields, parse));
  };
}

}  // namespace headpond::internal
