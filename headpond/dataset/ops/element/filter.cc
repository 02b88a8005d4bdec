// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/element/map_result_internal.h"

namespace headpond::internal {
namespace {

Node::Facts filter_facts(const Node::Ref& input, const MapOptions& options) {
  Node::Facts facts = function_facts(input, Role::filter, "", options, input->spec());
  if (facts.kind == Kind::indexed) facts.kind = Kind::sparse;
  return facts;
}

class Filter final : public Pointwise {
 public:
  Filter(const Node::Ref& input, Function predicate, const MapOptions& options)
      : Pointwise(filter_facts(input, options)), predicate_(std::move(predicate)) {}

  Got apply(Element& in, RandomKey, Context& context, OutputSlots, Element& out) const override {
    Element answer;
    if (Error error = predicate_.call(in, answer)) return context.fail(std::move(error));
    if (!answer[size_t{0}].as<bool>()[0]) return Got::hole;
    out = std::move(in);
    return Got::value;
  }

 private:
  const Function predicate_;
};

}  // namespace

Step filter_step(Function predicate, const MapOptions& options) {
  if (predicate.result.size() != 1 || predicate.result[0].dtype != DType::boolean) {
    refuse("filter", "the predicate must give one bool");
  }
  return [predicate = std::move(predicate), options](const Dataset& input) {
    predicate.check("filter", input.spec());
    return Dataset(std::make_shared<Filter>(input.node(), predicate, options));
  };
}

}  // namespace headpond::internal
