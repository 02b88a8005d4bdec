// SPDX-License-Identifier: Apache-2.0
// Errors of functions that are called with an element.
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <utility>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// What `call`, a function of the operator `title`, returns; its error, also one that it throws, with the operator's
/// and the element's name.
template <class Call, class Returned = std::invoke_result_t<Call>>
Returned call_named(const std::string& title, const Element& element, Call call) {
  const auto named = [&](const Error& error) {
    return Error(error.kind(),
                 fmt::format("{}, {}: {}", title, element_name(element.key, element.provenance), error.message()),
                 error)
        .at(element_place(title, element.key, element.provenance));
  };
  try {
    Returned result = call();
    return result ? std::move(result) : Returned(fail(named(result.error())));
  } catch (...) {
    return fail(named(current_exception_error()));
  }
}

template <class Call, class Returned = std::invoke_result_t<Call>>
Returned call_named(const Node& node, const Element& element, Call call) {
  return call_named(node.title(), element, std::move(call));
}

}  // namespace headpond::internal
