// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/plan_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "headpond/dataset/ops.h"
#include "headpond/plan/expression/expression.h"
#include "headpond/plan/named_fields.h"

namespace headpond::plan {
namespace {

using Shared = std::shared_ptr<const Expression>;

constexpr const char* kState = "state";

// The expression on one line, for the plan.
std::string label_of(std::string text, const std::string& name) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return name.empty() ? text : fmt::format("{}: {}", name, text);
}

Dataset with_draws(Dataset dataset, size_t draws, const std::string& name) {
  for (size_t i = 0; i < draws; ++i) {
    dataset = dataset | random_u32({.field = fmt::format("random_u32() {}", i + 1), .name = name});
  }
  return dataset;
}

// The first `count` fields.
Dataset without_draws(const Dataset& dataset, size_t count) {
  Spec output(dataset.spec().begin(), dataset.spec().begin() + static_cast<std::ptrdiff_t>(count));
  const auto cut = [count](const Element& in) {
    Element out;
    for (size_t i = 0; i < count; ++i) out.append(in[i]);
    return out;
  };
  return dataset | map(cut, {.output = std::move(output), .name = "without random words"});
}

Step replacing(const Shared& function, MapOptions options) {
  if (!function->is_scalar() || function->converts()) {
    options.output = {{"", function->dtype(), function->shape()}};
    return map([function](const Element& in) -> Result<Tensor> { return function->tensor(in); }, options);
  }
  if (function->dtype() == f64) {
    return map([function](const Element& in) -> Result<double> { return function->number(in); }, options);
  }
  return map([function](const Element& in) -> Result<int64_t> { return function->integer(in); }, options);
}

Step adding(const Shared& function, const Spec& input, const std::string& into, MapOptions options) {
  const auto found = std::find_if(input.begin(), input.end(), [&](const auto& field) { return field.name == into; });
  const auto at = static_cast<size_t>(found - input.begin());
  const FieldSpec field = {into, function->dtype(), function->shape()};
  options.output = input;
  if (found == input.end()) {
    options.output.push_back(field);
  } else {
    options.output[at] = field;
  }
  const auto put = [function, at, count = options.output.size()](const Element& in) -> Result<Element> {
    const auto value = function->tensor(in);
    if (!value) return fail(value.error());
    Element out;
    for (size_t i = 0; i < count; ++i) out.append(i == at ? *value : in[i]);
    return out;
  };
  return map(put, options);
}

using Holds = std::function<Result<bool>(const Element&)>;

// `input` through the step that `make` makes of a predicate.
Dataset kept(const std::string& op, const Dataset& input, const std::string& predicate, const std::string& name,
             const std::function<Step(const Holds&, const MapOptions&)>& make) {
  const auto expression = std::make_shared<const Expression>(predicate, input.spec());
  if (!expression->is_scalar()) {
    refuse(op, fmt::format("the predicate is over arrays of shape {}; it must be over single values",
                           expression->shape().to_string()));
  }
  const MapOptions options = {.name = label_of(predicate, name), .blocking = expression->sleeps()};
  const auto holds = [expression](const Element& in) -> Result<bool> { return expression->truth(in); };
  const Dataset all = with_draws(input, expression->draws(), name) | make(holds, options);
  return expression->draws() == 0 ? all : without_draws(all, input.spec().size());
}

Shared integer_expression(const char* op, const char* what, const Dataset& input, const std::string& function) {
  auto expression = std::make_shared<const Expression>(function, input.spec());
  if (!expression->is_scalar() || expression->dtype() != DType::i64 || expression->draws() != 0) {
    refuse(op, fmt::format("the {} must be one integer that follows from the element", what));
  }
  return expression;
}

}  // namespace

Dataset mapped(const Dataset& input, const std::string& function, const std::optional<std::string>& into,
               std::optional<DType> dtype, const std::string& name) {
  if (into && into->empty()) refuse("map", "into is empty");
  const bool is_x = input.spec().size() == 1 && shown_name(input.spec(), 0) == "x";
  const bool replaces = !into || (is_x && *into == "x");
  const Dataset below = replaces ? input : named(input);
  const auto expression = std::make_shared<const Expression>(function, below.spec(), dtype);
  const std::string value = dtype ? fmt::format("{}({})", headpond::name(*dtype), function) : function;
  const std::string label = replaces ? value : fmt::format("{} = {}", *into, value);
  const MapOptions options = {.name = label_of(label, name), .blocking = expression->sleeps()};
  return with_draws(below, expression->draws(), name) |
         (replaces ? replacing(expression, options) : adding(expression, below.spec(), *into, options));
}

Dataset filtered(const Dataset& input, const std::string& predicate, const std::string& name) {
  return kept("filter", input, predicate, name, [](const Holds& holds, const MapOptions& options) {
    return filter([holds](const Element& in) { return holds(in); }, options);
  });
}

Dataset taken_while(const Dataset& input, const std::string& predicate, const std::string& name) {
  return kept("take_while", input, predicate, name, [](const Holds& holds, const MapOptions& options) {
    return take_while([holds](const Element& in) { return holds(in); }, options);
  });
}

Dataset resampled(const Dataset& input, const std::string& function, const std::vector<double>& target_dist,
                  const std::vector<double>& initial_dist, const std::string& name) {
  const Shared expression = integer_expression("rejection_resample", "class", input, function);
  const auto class_of = [expression](const Element& in) -> Result<int64_t> { return expression->integer(in); };
  return input |
         rejection_resample(class_of, target_dist, {.initial_dist = initial_dist, .name = label_of(function, name)});
}

Dataset scanned(const Dataset& input, const Tensor& initial, const std::string& function,
                const std::optional<std::string>& output, const std::string& name) {
  const std::vector<std::string> names = shown_names(input.spec());
  if (std::ranges::find(names, kState) != names.end())
    refuse("scan", "the input has a field 'state'; give it another name");
  Spec fields = input.spec();
  for (size_t i = 0; i < fields.size(); ++i) fields[i].name = names[i];
  fields.push_back({kState, initial.dtype(), {}});

  const Expression plain(function, fields);
  if (!plain.is_scalar()) refuse("scan", "scan_func must give a single value, not an array");
  if (initial.dtype() == DType::i64 && plain.dtype() != DType::i64) {
    refuse("scan", "scan_func gives a float, and initial_state is an integer: write it with a point");
  }
  const auto next = std::make_shared<const Expression>(function, fields, initial.dtype());
  const auto given = output ? std::make_shared<const Expression>(*output, fields) : next;
  if (next->draws() + given->draws() != 0)
    refuse("scan", "random_u32() cannot stand here: put a step random_u32 before");

  const auto call = [next, given](const Element& state, const Element& in) -> Result<std::pair<Element, Element>> {
    Element all = in;
    all.append(state[0]);
    auto following = next->tensor(all);
    if (!following) return fail(std::move(following).error());
    auto value = given == next ? following : given->tensor(all);
    if (!value) return fail(std::move(value).error());
    return std::pair(Element{{*std::move(following)}}, Element{{*std::move(value)}});
  };
  const std::string label = output ? fmt::format("{}; {}", function, *output) : function;
  return input | scan(Element{{initial}}, call,
                      {.output = {{"", given->dtype(), given->shape()}},
                       .name = label_of(label, name),
                       .blocking = next->sleeps() || given->sleeps()});
}

IntegerOf integer_of(const std::string& op, const Dataset& input, const std::string& function,
                     const std::string& name) {
  const Spec& spec = input.spec();
  for (size_t i = 0; i < spec.size(); ++i) {
    if (shown_name(spec, i) != function || (spec[i].shape.rank() == 0 && spec[i].dtype != DType::bytes)) continue;
    const auto length = [i](const Element& in) -> Result<int64_t> {
      return in[i].rank() > 0 ? in[i].dim(0) : static_cast<int64_t>(in[i].bytes_at(0).size());
    };
    return {length, label_of("length of " + function, name)};
  }
  const Shared expression = integer_expression(op.c_str(), "value", input, function);
  return {[expression](const Element& in) -> Result<int64_t> { return expression->integer(in); },
          label_of(function, name)};
}

}  // namespace headpond::plan
