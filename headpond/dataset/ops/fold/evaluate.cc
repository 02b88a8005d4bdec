// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/fold/evaluate.h"

#include <fmt/format.h>

#include "headpond/dataset/bases/carried_internal.h"
#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond {
namespace {

Error invalid(std::string what) { return {ErrorKind::InvalidArgument, std::move(what)}; }

}  // namespace

Result<Element> reduce(const Dataset& dataset, const Element& initial, const ReduceFunction& function,
                       const SequenceOptions& options) {
  if (!function) return fail(invalid("reduce: the function is empty"));
  if (options.epochs < 0) return fail(invalid("reduce: a run without an end"));
  if (dataset.cardinality() == kEndless) return fail(invalid("reduce: the dataset has no end; limit it with take()"));
  const Spec spec = internal::spec_of(initial);
  Element state = initial;
  Sequence sequence(dataset, options);
  while (true) {
    auto element = sequence.next();
    if (at_end(element)) break;
    if (!element) return element;
    try {
      auto next = function(state, *element);
      if (!next) return fail(internal::not_the_end(next.error(), "reduce"));
      state = *std::move(next);
    } catch (...) {
      return fail(internal::not_the_end(current_exception_error(), "reduce"));
    }
    if (Error error = internal::check_element(spec, state)) {
      return fail(invalid(fmt::format("reduce: the state does not fit: {}", error.message())));
    }
  }
  internal::own_memory(state);
  return state;
}

Result<Element> get_single_element(const Dataset& dataset, const SequenceOptions& options) {
  Sequence sequence(dataset, options);
  auto only = sequence.next();
  if (at_end(only)) return fail(invalid("get_single_element: the dataset has no element"));
  if (!only) return only;
  const auto second = sequence.next();
  if (!at_end(second)) return fail(invalid("get_single_element: the dataset has more than one element"));
  internal::own_memory(*only);
  return only;
}

Result<Element> at(const Dataset& dataset, int64_t i, uint64_t seed, uint64_t epoch) {
  const Node& node = *dataset.node();
  if (node.kind() == Kind::stream) return fail(invalid(fmt::format("at: {} has no positions", node.title())));
  internal::prepare(dataset, internal::one_by_one);
  if (i < 0 || i >= node.slots())
    return fail(invalid(fmt::format("at: no position {}, there are {}", i, node.slots())));
  Context context;
  Element element;
  const Got got = internal::ask(*node.bind({.seed = seed, .epoch = epoch}), i, context, {}, element);
  if (got == Got::hole) return fail(ErrorKind::NotFound, fmt::format("at: a filter left position {} empty", i));
  if (got != Got::value) return fail(internal::not_the_end(context.error, "at"));
  internal::own_memory(element);
  element.set_names(internal::names_of(node.spec()));
  return element;
}

}  // namespace headpond
