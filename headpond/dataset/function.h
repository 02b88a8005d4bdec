// SPDX-License-Identifier: Apache-2.0
// Turns a C++ function with plain argument types into what map and filter call. See map in ops/element.h.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "headpond/dataset/function_types.h"

namespace headpond::internal {

/// A function without its types. Thread-safe if the original function is.
struct Function {
  std::function<void(const std::string& op, const Spec& input)> check;  ///< Throws Exception(InvalidArgument).
  Spec result;                                                          ///< If the type tells them; else empty.
  bool type_tells_all = true;
  std::function<Error(const Element& in, Element& out)> call;  ///< What it throws is the element's error too.
  /// For a function that works on each value of its field; else null. `result` is then a scalar. `in` and `out` do not
  /// overlap. May throw.
  std::function<void(const std::byte* in, std::byte* out, size_t count)> each = {};
};

/// Throws Exception(InvalidArgument) unless `input` has as many fields as there are `arguments`.
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

/// True iff F takes one arithmetic argument and gives an arithmetic result.
template <class Arguments, class Value>
inline constexpr bool kOneValue = false;
template <class A, class Value>
inline constexpr bool kOneValue<std::tuple<A>, Value> = std::is_arithmetic_v<A> && std::is_arithmetic_v<Value>;

/// Calls `f` for `count` values, in blocks of a constant length, which compilers vectorise at -O2 too.
template <class From, class To, class F>
[[gnu::always_inline]] inline void each_value(const F& f, const From* __restrict in, To* __restrict out, size_t count) {
  constexpr size_t kBlock = 64;
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (size_t j = i; j < i + kBlock; ++j) out[j] = f(in[j]);
  }
  for (; i < count; ++i) out[i] = f(in[i]);
}

/// The same for processors with AVX2, whatever the program is compiled for. Without FMA, which rounds differently: the
/// bytes are the same on every machine.
#if defined(__x86_64__)
template <class From, class To, class F>
[[gnu::target("avx2")]] void each_value_avx2(const F& f, const From* __restrict in, To* __restrict out, size_t count) {
  each_value(f, in, out, count);
}
inline bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
#else
template <class From, class To, class F>
void each_value_avx2(const F& f, const From* __restrict in, To* __restrict out, size_t count) {
  each_value(f, in, out, count);
}
inline bool has_avx2() { return false; }
#endif

template <class F>
Function make_function(F f) {
  Function made;
  if constexpr (!kIsSupported<F>) {
    check_types<F>();
  } else {
    using Arguments = typename Signature<F>::Arguments;
    using Values = typename Signature<F>::Result;
    if constexpr (std::is_same_v<Arguments, std::tuple<Element>>) {
      made = function_over_element(std::move(f));
    } else {
      made = function_over_fields(std::move(f), static_cast<Arguments*>(nullptr));
    }
    made.type_tells_all = Returned<Values>::kTypeTellsAll;
    if (made.type_tells_all) Returned<Values>::specify(made.result);
  }
  return made;
}

/// `made`, of a function `f` from one value to another, for a field of any shape: it works on each value.
template <class From, class To, class F>
Function over_each_value(Function made, F f) {
  made.check = [](const std::string& op, const Spec& input) {
    check_count(op, 1, input);
    check_argument(op, 0, input[0], dtype_of<From>(), false);
  };
  made.each = [f = std::move(f)](const std::byte* in, std::byte* out, size_t count) {
    const auto* const from = reinterpret_cast<const From*>(in);
    auto* const to = reinterpret_cast<To*>(out);
    has_avx2() ? each_value_avx2(f, from, to, count) : each_value(f, from, to, count);
  };
  return made;
}

/// make_function, but a function of one value takes a field of any shape and works on each value of it.
template <class F>
Function make_map_function(F f) {
  Function made = make_function(f);
  if constexpr (kIsSupported<F>) {
    using Arguments = typename Signature<F>::Arguments;
    using To = typename Signature<F>::Result;
    if constexpr (kOneValue<Arguments, To>) {
      return over_each_value<std::tuple_element_t<0, Arguments>, To>(std::move(made), std::move(f));
    }
  }
  return made;
}

}  // namespace headpond::internal
