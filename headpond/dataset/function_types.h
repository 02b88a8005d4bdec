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

template <class T>
struct Argument;  // Of other types: not a type that a field can be read as.
template <class T>
  requires std::is_arithmetic_v<T>
struct Argument<T> {
  static void check(const std::string& op, size_t number, const FieldSpec& field) {
    constexpr DType kDType = dtype_of<T>();
    check_argument(op, number, field, kDType, true);
  }
  static T get(const Tensor& field) { return field.as<T>()[0]; }
};
template <class T>
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

/// What a result becomes: its fields, as far as the type tells them.
template <class T>
struct Returned;
template <class T>
  requires std::is_arithmetic_v<T>
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

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = std::remove_cvref_t<R>;
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> {
  static_assert(sizeof(C) == 0, "a mutable function may give another result for the same element: make it const");
};

template <class T>
struct IsResult : std::false_type {};
template <class T>
struct IsResult<Result<T>> : std::true_type {};

}  // namespace headpond::internal
