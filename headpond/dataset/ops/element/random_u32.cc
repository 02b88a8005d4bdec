// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/random.h"

namespace headpond {
namespace {

Node::Facts facts_of(const Node::Ref& input, const RandomOptions& options) {
  Spec spec = input->spec();
  spec.push_back({options.field, DType::u32, {}});
  check_names("random_u32", spec);
  Node::Facts facts = facts_over(input, "random_u32", fmt::format("field={}", options.field), std::move(spec));
  facts.random_streams = {options.name};
  return facts;
}

class RandomU32 final : public Pointwise {
 public:
  RandomU32(const Node::Ref& input, const RandomOptions& options) : Pointwise(facts_of(input, options)) {}
  Got apply(Element& in, RandomKey random_key, Context&, OutputSlots, Element& out) const override {
    const uint32_t word = Random(random_key, in.key).u32();
    out = std::move(in);
    out.append(Tensor::scalar(word));
    return Got::value;
  }
  bool fill(const View& view, std::span<const int64_t> positions, RandomKey random_key, Context& context,
            OutputSlots columns, uint64_t* keys) const override {
    const OutputSlots below = take_first(columns, spec().size() - 1);
    const auto draw = [&](size_t first, std::span<const uint64_t> drawn) {
      for (size_t r = 0; r < drawn.size(); ++r) {
        const uint32_t word = Random(random_key, drawn[r]).u32();
        std::memcpy(columns[0].data + (first + r) * sizeof(word), &word, sizeof(word));
      }
    };
    return fill_with_keys(view, positions, context, below, keys, draw);
  }
};

}  // namespace

Step random_u32(RandomOptions options) {
  if (options.field.empty()) options.field = "random";
  if (options.name.empty()) options.name = "random_u32";
  return [options](const Dataset& input) { return Dataset(std::make_shared<RandomU32>(input.node(), options)); };
}

}  // namespace headpond
