// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/random.h"
#include "headpond/dataset/pointwise_internal.h"

namespace headpond {
namespace {

Node::Facts facts_of(const Node::Ref& input, const RandomOptions& options) {
  Spec spec = input->spec();
  for (const FieldSpec& field : spec) {
    if (field.name == options.field)
      internal::refuse("random_u32", fmt::format("there is a field '{}' already", field.name));
  }
  spec.push_back({options.field, DType::u32, {}});
  Node::Facts facts =
      internal::facts_over(input, "random_u32", fmt::format("field={}", options.field), std::move(spec));
  facts.draws = options.name;
  return facts;
}

class RandomU32 final : public internal::Pointwise {
 public:
  RandomU32(const Node::Ref& input, const RandomOptions& options) : Pointwise(facts_of(input, options)) {}
  Got apply(Element& in, RandomKey draws, Context&, Offers, Element& out) const override {
    const uint32_t word = Random(draws, in.key).u32();
    out = std::move(in);
    out.append(Tensor::scalar(word));
    return Got::value;
  }
};

}  // namespace

Step random_u32(RandomOptions options) {
  if (options.field.empty()) options.field = "random";
  if (options.name.empty()) options.name = "random_u32";
  return [options](const Dataset& input) { return Dataset(std::make_shared<RandomU32>(input.node(), options)); };
}

}  // namespace headpond
