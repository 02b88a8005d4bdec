// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/random.h"

namespace headpond::internal {
namespace {

Node::Facts facts_of(const Node::Ref& input, const RandomFunction& function, const MapOptions& options) {
  Spec spec = map_result_spec("random_map", function.type_tells_all, function.result, options);
  Node::Facts facts = facts_over(input, "random_map", function_label(options), std::move(spec));
  facts.role = Role::map;
  facts.random_streams = {options.name.empty() ? "random_map" : options.name};
  facts.blocking = options.blocking;
  facts.opaque = options.name.empty();
  return facts;
}

class RandomMap final : public Pointwise {
 public:
  RandomMap(const Node::Ref& input, const RandomFunction& function, const MapOptions& options)
      : Pointwise(facts_of(input, function, options)), function_(function) {}
  Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots, Element& out) const override {
    Random random(random_key, in.key);
    Error error = function_.call(in, random, out);
    if (!error && !function_.type_tells_all) error = check_element(spec(), out);
    return error ? context.fail(std::move(error)) : Got::value;
  }

 private:
  const RandomFunction function_;
};

}  // namespace

Step random_map_step(RandomFunction function, const MapOptions& options) {
  return [function = std::move(function), options](const Dataset& input) {
    function.check("random_map", input.spec());
    return Dataset(std::make_shared<RandomMap>(input.node(), function, options));
  };
}

}  // namespace headpond::internal
