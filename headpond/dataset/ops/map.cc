// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/map_result_internal.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/pointwise_internal.h"

namespace headpond::internal {
namespace {

class Map final : public Pointwise {
 public:
  Map(const Node::Ref& input, const Function& function, const MapOptions& options)
      : Pointwise(
            facts_over(input, "map", map_label(options), map_result_spec("map", function, options), options.blocking)),
        function_(function) {}

  Got apply(Element& in, RandomKey, Context& context, Offers, Element& out) const override {
    Error error = function_.call(in, out);
    if (!error && !function_.type_tells_all) error = check_element(spec(), out);
    return error ? context.fail(std::move(error)) : Got::value;
  }

 private:
  const Function function_;
};

}  // namespace

Step map_step(Function function, const MapOptions& options) {
  return [function = std::move(function), options](const Dataset& input) {
    function.check("map", input.spec());
    return Dataset(std::make_shared<Map>(input.node(), function, options));
  };
}

}  // namespace headpond::internal
