// SPDX-License-Identifier: Apache-2.0
// How the types of a C++ function's arguments and results stand for fields. See map in ops/element.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// Throws Exception(InvalidArgument) unless an argument for `dtype` can take `field`.
void check_argument(const std::string& op, size_t number, const FieldSpec& field, DType dtype, bool scalar);

/// True iff a dtype holds values of T.
template <class T>
concept HasDType = std::is_arithmetic_v<T> && sizeof(T) <= 8;

template <class T>
struct Argument;  // Other types have none: no field can be read as them.
template <class T>
  requires HasDType<T>
struct Argument<T> {
  static void check(const std::string& op, size_t number, const FieldSpec& field) {
    constexpr DType kDType = dtype_of<T>();
    check_argument(op, number, field, kDType, true);
  }
  static T get(const Tensor& field) { return field.as<T>()[0]; }
};
template <class T>
  requires HasDType<T>
struct Argument<std::span<const T>> {
  static void check(const std::string& op, size_t number, const FieldSpec& field) {
    constexpr DType kDType = dtype_of<T>();
    check_argument(op, number, field, kDType, false);
  }
  static std::span<const T> get(const Tensor& field) { return field.as<T>(); }
};
template <>
struct Argument<std::string_view> {
  static void check(const std::string& op, size_t number, const FieldSpec& field) {
    constexpr DType kDType = DType::bytes;
    check_argument(op, number, field, kDType, true);
  }
  static std::string_view get(const Tensor& field) { return field.bytes_at(0); }
};
template <>
struct Argument<Tensor> {
  static void check(const std::string&, size_t, const FieldSpec&) {}
  static const Tensor& get(const Tensor& field) { return field; }
};

/// The fields of a result, as far as its type tells them.
template <class T>
struct Returned;
template <class T>
  requires HasDType<T>
struct Returned<T> {
  static constexpr bool kTypeTellsAll = true;
  static void specify(Spec& spec) { spec.push_back({"", dtype_of<T>(), {}}); }
  static void put(T value, Element& out) { out.append(Tensor::scalar(value)); }
};
template <>
struct Returned<std::string> {
  static constexpr bool kTypeTellsAll = true;
  static void specify(Spec& spec) { spec.push_back({"", DType::bytes, {}}); }
  static void put(const std::string& value, Element& out) { out.append(Tensor::scalar(std::string_view(value))); }
};
template <>
struct Returned<Tensor> {
  static constexpr bool kTypeTellsAll = false;
  static void specify(Spec&) {}
  static void put(Tensor value, Element& out) { out.append(std::move(value)); }
};
template <>
struct Returned<Element> {
  static constexpr bool kTypeTellsAll = false;
  static void specify(Spec&) {}
  static void put(Element value, Element& out) {
    for (size_t i = 0; i < value.size(); ++i) out.append(std::move(value[i]));
  }
};
template <class... T>
struct Returned<std::tuple<T...>> {
  static constexpr bool kTypeTellsAll = (Returned<T>::kTypeTellsAll && ...);
  static void specify(Spec& spec) { (Returned<T>::specify(spec), ...); }
  static void put(std::tuple<T...> values, Element& out) {
    std::apply([&](auto&... value) { (Returned<T>::put(std::move(value), out), ...); }, values);
  }
};
template <class T>
struct Returned<Result<T>> : Returned<T> {};

/// Arguments and result of a function; neither if its type does not tell them.
template <class F>
struct Signature {};
template <class F>
  requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = std::remove_cvref_t<R>;
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool kIsConst = true;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {
  static constexpr bool kIsConst = false;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (C::*)(A...)> {};

template <class T>
struct IsResult : std::false_type {};
template <class T>
struct IsResult<Result<T>> : std::true_type {};

/// True iff T is what a function may return: see Returned.
template <class T>
    struct IsReturned : std::bool_constant < requires {
  Returned<T>::kTypeTellsAll;
} > {};
template <class... T>
struct IsReturned<std::tuple<T...>> : std::conjunction<IsReturned<T>...> {};
template <class T>
struct IsReturned<Result<T>> : IsReturned<T> {};

/// True iff T is what a function may take: see Argument.
template <class T>
inline constexpr bool kIsArgument = requires(const Tensor& field) { Argument<T>::get(field); };

template <class Arguments>
inline constexpr bool kAreArguments = false;
template <>
inline constexpr bool kAreArguments<std::tuple<Element>> = true;
template <class... A>
inline constexpr bool kAreArguments<std::tuple<A...>> = (kIsArgument<A> && ...);

template <class F>
inline constexpr bool kTellsTypes = requires { typename Signature<F>::Arguments; };

/// True iff map and filter can call an F.
template <class F>
inline constexpr bool kIsSupported = false;
template <class F>
  requires kTellsTypes<F>
inline constexpr bool kIsSupported<F> = Signature<F>::kIsConst && kAreArguments<typename Signature<F>::Arguments> &&
                                        IsReturned<typename Signature<F>::Result>::value;

// Compile-time errors for other functions. One template for each type, so that it names the type. Nothing else is
// compiled for such a function, so that these are the only errors.

template <class F>
void check_types_are_told() {
  static_assert(kTellsTypes<F>,
                "The types of the function's arguments are not known: write them instead of auto, have one operator() "
                "only, and pass a function, not a value.");
}
template <class T>
void check_argument_type() {
  static_assert(kIsArgument<T>,
                "An argument of the function has a type that no field can be read as. Supported: an arithmetic type (a "
                "scalar field), std::span<const T> (the values of any shape), std::string_view (a scalar of dtype "
                "bytes), const Tensor& (any field); or a single const Element& (all fields).");
}
template <class T>
void check_result_type() {
  static_assert(IsReturned<T>::value,
                "The result of the function has a type that cannot become a field. Supported: an arithmetic type, "
                "std::string, Tensor, a std::tuple of these, an Element, or a Result of one of them.");
}
template <class... A>
void check_argument_types(std::tuple<A...>*) {
  if constexpr (!kAreArguments<std::tuple<A...>>) (check_argument_type<A>(), ...);
}
template <class F>
void check_types() {
  check_types_are_told<F>();
  if constexpr (kTellsTypes<F>) {
    static_assert(Signature<F>::kIsConst,
                  "A mutable function may give another result for the same element: make it const.");
    check_argument_types(static_cast<typename Signature<F>::Arguments*>(nullptr));
    check_result_type<typename Signature<F>::Result>();
  }
}

}  // namespace headpond::internal
