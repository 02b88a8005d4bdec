// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/ops/element/values_internal.h"

namespace headpond::internal {
namespace {

Spec with_field(const Spec& spec, size_t index, FieldSpec field) {
  Spec changed = spec;
  field.name = spec[index].name;
  changed[index] = std::move(field);
  return changed;
}

class MapField final : public Pointwise {
 public:
  MapField(const Node::Ref& input, size_t index, const Function& function, const MapOptions& options, const Spec& one)
      : Pointwise(function_facts(input, Role::map, fmt::format("field={}, ", index), options,
                                 with_field(input->spec(), index, one[0]))),
        index_(index),
        function_(function) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots outputs, Element& out) const override {
    Element result;
    Error error;
    if (function_.each && in[index_].rank() > 0) {
      map_values(function_, in[index_], context, slot_of(outputs, index_), result);
    } else {
      error = function_.call(Element{in[index_]}, result);
      if (!error && !function_.type_tells_all) error = check_element({spec()[index_]}, result);
    }
    if (error) return context.fail(std::move(error));
    in[index_] = std::move(result[size_t{0}]);
    out = std::move(in);
    return Got::value;
  }
  bool fill(const View& view, std::span<const int64_t> positions, RandomKey, Context& context, OutputSlots columns,
            uint64_t* keys) const override {
    return fill_values(view, function_, index_, input().spec()[index_], positions, context, columns, keys);
  }

 private:
  const size_t index_;
  const Function function_;
};

}  // namespace

Step map_field_step(const std::string& field, Function function, const MapOptions& options) {
  return [field, function = std::move(function), options](const Dataset& input) {
    const size_t index = field_index("map", input.spec(), field);
    const Spec before = {input.spec()[index]};
    function.check("map", before);
    const Function over = over_input(function, before);
    const Spec one = map_result_spec("map", over, options);
    if (one.size() != 1) refuse("map", fmt::format("a function of field '{}' must give one field", field));
    return Dataset(std::make_shared<MapField>(input.node(), index, over, options, one));
  };
}

}  // namespace headpond::internal
