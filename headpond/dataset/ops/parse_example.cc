// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/ops/example.h"
#include "headpond/dataset/pointwise.h"

namespace headpond {
namespace {

bool is_fixed(const FieldSpec& field) { return field.dtype != DType::bytes && field.shape.is_full(); }

std::span<const std::byte> as_message(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string label(const ExampleParser& parser) { return fmt::format("parse_example({})", parser.describe()); }
std::string label(const SequenceExampleParser& parser) {
  return fmt::format("parse_sequence_example({})", parser.describe());
}

// A message in one field becomes the parser's fields.
template <class Parser>
class Parse final : public internal::Pointwise {
 public:
  Parse(const Node::Ref& input, Parser parser)
      : Pointwise(internal::facts_over(input, "map", label(parser), parser.fields())),
        parser_(std::move(parser)),
        all_fixed_(std::all_of(spec().begin(), spec().end(), is_fixed)) {}

  Got apply(Element& in, RandomKey, Context& context, Offers offers, Element& out) const override {
    for (const FieldSpec& field : spec()) {
      if (is_fixed(field)) {
        context.make(out, offers, field.dtype, field.shape);
      } else {
        out.append(Tensor());
      }
    }
    std::vector<std::byte*> places;
    for (size_t f = 0; f < spec().size(); ++f) {
      places.push_back(is_fixed(spec()[f]) ? out[f].mutable_data() : nullptr);
    }
    std::span<Tensor> fields;
    if (out.size() > 0) fields = {&out[0], out.size()};
    auto parsed = parser_.parse(as_message(in[0].bytes_at(0)), places, fields);
    return parsed ? Got::value : context.fail(std::move(parsed).error());
  }

  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, Offers columns,
            uint64_t* keys) const override {
    std::array<std::string_view, internal::kFillBlock> messages;
    const Offer messages_column = {reinterpret_cast<std::byte*>(messages.data()), &input().spec()[0]};
    const Offers below(&messages_column, 1);
    if (!all_fixed_ || positions.empty()) return all_fixed_ && view.fill({}, context, below, keys);
    std::vector<std::byte*> places;
    for (const Offer& column : columns) places.push_back(column.place);
    while (!positions.empty()) {
      const size_t count = std::min(positions.size(), messages.size());
      if (!view.fill(positions.first(count), context, below, keys)) return false;
      for (const std::string_view message : std::span(messages).first(count)) {
        if (!parser_.parse(as_message(message), places, {})) return false;
        for (size_t f = 0; f < places.size(); ++f) places[f] += internal::row_bytes(spec()[f]);
      }
      positions = positions.subspan(count);
      if (keys != nullptr) keys += count;
    }
    return view.fill({}, context, below, keys);
  }

 private:
  const Parser parser_;
  const bool all_fixed_;
};

template <class Parser>
Step parse_step(Parser parser) {
  return [parser = std::move(parser)](const Dataset& input) {
    const Spec& spec = input.spec();
    if (spec.size() != 1 || spec[0].dtype != DType::bytes || spec[0].shape.rank() != 0) {
      internal::refuse(
          "map", fmt::format("an Example is parsed out of one scalar of dtype bytes, not of {}", to_string(spec)));
    }
    return Dataset(std::make_shared<Parse<Parser>>(input.node(), parser));
  };
}

}  // namespace

Step map(ExampleParser parser) { return parse_step(std::move(parser)); }
Step map(SequenceExampleParser parser) { return parse_step(std::move(parser)); }

}  // namespace headpond
