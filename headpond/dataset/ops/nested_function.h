// SPDX-License-Identifier: Apache-2.0
// Turns a C++ function from an element to a dataset into what flat_map and interleave call. See ops/nested.h.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"

namespace headpond::internal {

/// A function without its types. Thread-safe if the original function is.
struct NestedFunction {
  std::function<void(const std::string& op, const Spec& input)> check;  ///< Throws Exception(InvalidArgument).
  std::function<Result<Dataset>(const Element& in)> call;               ///< May also throw.
};

template <class T>
inline constexpr bool kIsDataset = std::is_same_v<T, Dataset> || std::is_same_v<T, Result<Dataset>>;

/// True iff flat_map and interleave can call an F.
template <class F>
inline constexpr bool kMakesDatasets = false;
template <class F>
  requires kTellsTypes<F>
inline constexpr bool kMakesDatasets<F> = Signature<F>::kIsConst && kAreArguments<typename Signature<F>::Arguments> &&
                                          kIsDataset<typename Signature<F>::Result>;

template <class F>
void check_nested_types() {
  check_types_are_told<F>();
  if constexpr (kTellsTypes<F>) {
    static_assert(Signature<F>::kIsConst, "A mutable function may give another dataset for the same element.");
    static_assert(kIsDataset<typename Signature<F>::Result>, "The function returns a Dataset, or a Result<Dataset>.");
    check_argument_types(static_cast<typename Signature<F>::Arguments*>(nullptr));
  }
}

/// REQUIRES: kMakesDatasets<F>.
template <class F>
NestedFunction nested_function_of(F f) {
  using Arguments = typename Signature<F>::Arguments;
  NestedFunction made;
  if constexpr (std::is_same_v<Arguments, std::tuple<Element>>) {
    made.check = [](const std::string&, const Spec&) {};
    made.call = [f = std::move(f)](const Element& in) -> Result<Dataset> { return f(in); };
  } else {
    [&]<size_t... I>(std::index_sequence<I...>) {
      made.check = [](const std::string& op, const Spec& input) {
        check_count(op, sizeof...(I), input);
        (Argument<std::tuple_element_t<I, Arguments>>::check(op, I, input[I]), ...);
      };
      made.call = [f = std::move(f)](const Element& in) -> Result<Dataset> {
        return f(Argument<std::tuple_element_t<I, Arguments>>::get(in[I])...);
      };
    }(std::make_index_sequence<std::tuple_size_v<Arguments>>());
  }
  return made;
}

template <class F>
NestedFunction make_nested_function(F f) {
  if constexpr (kMakesDatasets<F>) {
    return nested_function_of(std::move(f));
  } else {
    check_nested_types<F>();
    return {};
  }
}

}  // namespace headpond::internal
