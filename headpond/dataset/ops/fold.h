// SPDX-License-Identifier: Apache-2.0
// Operators that look at elements in their order, so they are streams. Their functions are called by one thread at a
// time. For the types that a predicate may take see map in ops/element.h.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/element.h"

namespace headpond {

namespace internal {
Step take_while_step(Function predicate, const MapOptions& options);
}

/// The elements before the first one for which `predicate` returns false. It takes arguments as map's function does,
/// and returns bool or Result<bool>; an error takes the place of its element, and does not end anything.
template <class F>
Step take_while(F predicate, const MapOptions& options = {}) {
  return internal::take_while_step(internal::make_function(std::move(predicate)), options);
}

/// The elements whose value did not come before: one field of dtype i64, i32 or bytes. The values are kept in memory
/// until the epoch ends; a restore reads the epoch again from its start.
Step unique();

/// Given the state and the next element, returns the next state and an element in place of that one. May throw. The
/// state keeps number, dtypes and shapes of its fields.
using ScanFunction = std::function<Result<std::pair<Element, Element>>(const Element& state, const Element& element)>;

/// Carries a state from element to element, `initial` at the beginning of each epoch, and gives what `function` makes.
/// `options.output` says the fields of its elements. An error replaces the element, and the state stays as it was. The
/// values of the state become a part of each saved state: keep them small.
Step scan(const Element& initial, ScanFunction function, const MapOptions& options);

}  // namespace headpond
