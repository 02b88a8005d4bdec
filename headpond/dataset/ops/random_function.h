// SPDX-License-Identifier: Apache-2.0
// Turns a C++ function whose last argument is a Random& into what random_map calls. See random_map in ops/random.h.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "headpond/base/random.h"
#include "headpond/dataset/function.h"

namespace headpond::internal {

/// Like Function, with a generator.
struct RandomFunction {
  std::function<void(const std::string& op, const Spec& input)> check;  ///< Throws Exception(InvalidArgument).
  Spec result;                                                          ///< If the type tells them; else empty.
  bool type_tells_all = true;
  std::function<Error(const Element& in, Random& random, Element& out)> call;  ///< May also throw.
};

/// The numbers of all arguments but the last.
template <class Arguments>
using IndicesBeforeLast =
    std::make_index_sequence<(std::tuple_size_v<Arguments> > 0) ? std::tuple_size_v<Arguments> - 1 : 0>;

/// True iff all but the last of the types in a tuple are arguments of a function, and that one is Random.
template <class Arguments, class Indices = IndicesBeforeLast<Arguments>>
inline constexpr bool kEndsWithRandom = false;
template <class First, class... A, size_t... I>
inline constexpr bool kEndsWithRandom<std::tuple<First, A...>, std::index_sequence<I...>> =
    std::is_same_v<std::tuple_element_t<sizeof...(I), std::tuple<First, A...>>, Random> &&
    kAreArguments<std::tuple<std::tuple_element_t<I, std::tuple<First, A...>>...>>;

/// True iff random_map can call an F.
template <class F>
inline constexpr bool kDraws = false;
template <class F>
  requires kTellsTypes<F>
inline constexpr bool kDraws<F> = Signature<F>::kIsConst && kEndsWithRandom<typename Signature<F>::Arguments> &&
                                  IsReturned<typename Signature<F>::Result>::value;

template <class F>
void check_random_types() {
  check_types_are_told<F>();
  if constexpr (kTellsTypes<F>) {
    static_assert(Signature<F>::kIsConst, "A mutable function may give another result for the same element.");
    static_assert(kEndsWithRandom<typename Signature<F>::Arguments>,
                  "The function takes what map's function takes, and then a Random&: (int64_t x, Random& random), or "
                  "(const Element& element, Random& random).");
    check_result_type<typename Signature<F>::Result>();
  }
}

/// REQUIRES: kDraws<F>.
template <class F>
RandomFunction random_function_of(F f) {
  using Arguments = typename Signature<F>::Arguments;
  using Values = typename Signature<F>::Result;
  RandomFunction made;
  made.type_tells_all = Returned<Values>::kTypeTellsAll;
  if (made.type_tells_all) Returned<Values>::specify(made.result);
  if constexpr (std::is_same_v<std::tuple_element_t<0, Arguments>, Element>) {
    made.check = [](const std::string&, const Spec&) {};
    made.call = [f = std::move(f)](const Element& in, Random& random, Element& out) {
      return finish<Values>([&] { return f(in, random); }, out);
    };
  } else {
    [&]<size_t... I>(std::index_sequence<I...>) {
      made.check = [](const std::string& op, const Spec& input) {
        check_count(op, sizeof...(I), input);
        (Argument<std::tuple_element_t<I, Arguments>>::check(op, I, input[I]), ...);
      };
      made.call = [f = std::move(f)](const Element& in, Random& random, Element& out) {
        return finish<Values>([&] { return f(Argument<std::tuple_element_t<I, Arguments>>::get(in[I])..., random); },
                              out);
      };
    }(IndicesBeforeLast<Arguments>());
  }
  return made;
}

template <class F>
RandomFunction make_random_function(F f) {
  if constexpr (kDraws<F>) {
    return random_function_of(std::move(f));
  } else {
    check_random_types<F>();
    return {};
  }
}

}  // namespace headpond::internal
