// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/element/values_internal.h"

namespace headpond::internal {
namespace {

class Map final : public Pointwise {
 public:
  Map(const Node::Ref& input, const Function& function, const MapOptions& options)
      : Pointwise(function_facts(input, Role::map, "", options, map_result_spec("map", function, options))),
        function_(function) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots outputs, Element& out) const override {
    if (function_.each && in[0].rank() > 0) {
      map_values(function_, in[0], context, outputs, out);
      return Got::value;
    }
    Error error = function_.call(in, out);
    if (!error && !function_.type_tells_all) error = check_element(spec(), out);
    return error ? context.fail(std::move(error)) : Got::value;
  }
  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, OutputSlots columns,
            uint64_t* keys) const override {
    if (!function_.each) return false;  // The input may have no field 0.
    return fill_values(view, function_, 0, input().spec()[0], positions, context, columns, keys);
  }

 private:
  const Function function_;
};

}  // namespace

Step map_step(Function function, const MapOptions& options) {
  return [function = std::move(function), options](const Dataset& input) {
    function.check("map", input.spec());
    return Dataset(std::make_shared<Map>(input.node(), over_input(function, input.spec()), options));
  };
}

}  // namespace headpond::internal
