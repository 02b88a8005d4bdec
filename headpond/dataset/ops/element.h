// SPDX-License-Identifier: Apache-2.0
// Operators that work on one element at a time. Functions must be pure: they are called from many threads, perhaps
// twice for an element, or for elements that are never delivered. For the types that they may take and return see map.
#pragma once

#include <string>
#include <utility>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"

namespace headpond {

struct MapOptions {
  /// Fields of the result. Required if the function's type does not tell them (Tensor, Element); else only for names.
  Spec output = {};
  std::string name = "";  ///< For explain and the state; "": a restore does not notice that the function changed.
  int version = 0;        ///< Raise it when the function returns other values for equal arguments.
  /// The function waits (files, network, sleep) more than it computes. The engine calls it from separate threads;
  /// values and states stay the same.
  bool blocking = false;
};

namespace internal {
Step map_step(Function function, const MapOptions& options);
Step map_field_step(const std::string& field, Function function, const MapOptions& options);
Step filter_step(Function predicate, const MapOptions& options);
}  // namespace internal

/// Calls `function` for each element. Its arguments are the fields in their order: an arithmetic type takes a scalar,
/// std::span<const T> the values of any shape, std::string_view a scalar of dtype bytes, const Tensor& any field; a
/// single const Element& takes all fields. It returns an arithmetic type, std::string or Tensor, a std::tuple of these,
/// an Element, or a Result of one of them. An error, returned or thrown, replaces the element.
///
/// A function from one arithmetic type to another also takes a field of any shape: it is called for each value. The
/// compiler sees the loop, and can vectorise a function that it sees: map([](uint8_t x) { return x / 255.F; }). Compile
/// without -ffast-math, which may make a value depend on its index in the loop.
template <class F>
Step map(F function, const MapOptions& options = {}) {
  return internal::map_step(internal::make_map_function(std::move(function)), options);
}

/// Calls a function of one argument and one result for the field `field`; the other fields stay as they are.
template <class F>
Step map(const std::string& field, F function, const MapOptions& options = {}) {
  return internal::map_field_step(field, internal::make_map_function(std::move(function)), options);
}
template <class F>
Step map(internal::ListOfNames, F, const MapOptions& = {}) = delete;

/// Keeps the elements for which `predicate` returns true. It takes arguments as map's function does, and returns bool
/// or Result<bool>. Positions stay: the elements left out are holes.
template <class F>
Step filter(F predicate, const MapOptions& options = {}) {
  return internal::filter_step(internal::make_function(std::move(predicate)), options);
}

}  // namespace headpond
