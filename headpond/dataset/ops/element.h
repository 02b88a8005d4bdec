// SPDX-License-Identifier: Apache-2.0
// Operators that look at one element at a time. Functions must be pure: they are called from many threads, perhaps
// twice for an element, or for elements that are never delivered. What they may take and give: see map.
#pragma once

#include <string>
#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"

namespace headpond {

struct MapOptions {
  /// Fields of the result. Needed where the function's type does not tell them (Tensor, Element); else it gives names.
  Spec output = {};
  std::string name = "";  ///< For explain and the state; "": a change of the function is not noticed by a restore.
  int version = 0;        ///< Raise it when the function changes what it gives.
  /// It waits more than it computes: files, network, sleep. The engine runs it on threads of their own; what it gives
  /// and the state stay the same.
  bool blocking = false;
};

namespace internal {
Step map_step(Function function, const MapOptions& options);
Step map_field_step(const std::string& field, Function function, const MapOptions& options);
Step filter_step(Function predicate, const MapOptions& options);
}  // namespace internal

/// Each element through `function`. Its arguments take the fields in their order: an arithmetic type takes a scalar,
/// std::span<const T> the values of any shape, std::string_view a scalar of dtype bytes, const Tensor& anything; a
/// single const Element& takes all fields. It returns an arithmetic type, std::string or Tensor, a std::tuple of these,
/// an Element, or a Result of one of them. An error, or what it throws, takes the element's place.
///
/// From one arithmetic type to another, over a field that is not a scalar: each value by itself, in the same shape. The
/// compiler sees the loop, and can vectorise what it sees of the function: map([](uint8_t x) { return x / 255.F; }).
/// Compile it without -ffast-math, by which a value may depend on its place in the loop.
template <class F>
Step map(F function, const MapOptions& options = {}) {
  return internal::map_step(internal::make_map_function(std::move(function)), options);
}

/// The field `field` alone, by a function of one argument and one result; the others stay as they are.
template <class F>
Step map(const std::string& field, F function, const MapOptions& options = {}) {
  return internal::map_field_step(field, internal::make_map_function(std::move(function)), options);
}

/// The elements for which `predicate` gives true. Its arguments are those of map; it returns bool or Result<bool>.
/// Positions stay: the elements left out are holes.
template <class F>
Step filter(F predicate, const MapOptions& options = {}) {
  return internal::filter_step(internal::make_function(std::move(predicate)), options);
}

}  // namespace headpond
