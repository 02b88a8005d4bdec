// SPDX-License-Identifier: Apache-2.0
// Turns a C++ function with plain argument types into what map and filter call. See map in ops/element.h.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "headpond/dataset/function_types.h"

namespace headpond::internal {

/// A function whose types are forgotten. Thread-safe if the function that it was made of is.
struct Function {
  std::function<void(const std::string& op, const Spec& input)> check;  ///< Throws Exception(InvalidArgument).
  Spec result;                                                          ///< If the type tells all; else empty.
  bool type_tells_all = true;
  std::function<Error(const Element& in, Element& out)> call;  ///< May throw too.
};

/// Throws Exception(InvalidArgument) unless `input` has so many fields.
void check_count(const std::string& op, size_t arguments, const Spec& input);

template <class Values, class Call>
Error finish(Call call, Element& out) {
  if constexpr (IsResult<Values>::value) {
    Values result = call();
    if (!result) return result.error();
    Returned<Values>::put(std::move(*result), out);
  } else {
    Returned<Values>::put(call(), out);
  }
  return {};
}

template <class F, class... A>
Function function_over_fields(F f, std::tuple<A...>*) {
  using Values = typename Signature<F>::Result;
  Function made;
  made.check = [](const std::string& op, const Spec& input) {
    check_count(op, sizeof...(A), input);
    size_t i = 0;
    ((Argument<A>::check(op, i, input[i]), ++i), ...);
  };
  made.call = [f = std::move(f)](const Element& in, Element& out) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return finish<Values>([&] { return f(Argument<A>::get(in[I])...); }, out);
    }(std::index_sequence_for<A...>());
  };
  return made;
}

template <class F>
Function function_over_element(F f) {
  using Values = typename Signature<F>::Result;
  Function made;
  made.check = [](const std::string&, const Spec&) {};
  made.call = [f = std::move(f)](const Element& in, Element& out) {
    return finish<Values>([&] { return f(in); }, out);
  };
  return made;
}

template <class F>
Function make_function(F f) {
  using Arguments = typename Signature<F>::Arguments;
  using Values = typename Signature<F>::Result;
  Function made;
  if constexpr (std::is_same_v<Arguments, std::tuple<Element>>) {
    made = function_over_element(std::move(f));
  } else {
    made = function_over_fields(std::move(f), static_cast<Arguments*>(nullptr));
  }
  made.type_tells_all = Returned<Values>::kTypeTellsAll;
  if (made.type_tells_all) Returned<Values>::specify(made.result);
  return made;
}

}  // namespace headpond::internal
