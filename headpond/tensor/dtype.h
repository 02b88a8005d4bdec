// SPDX-License-Identifier: Apache-2.0
// DType: the types that the values of a tensor can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace headpond {

/// Caches save their numbers: a new one comes last. What else it needs: docs/how_to_add.md, "A dtype".
enum class DType : uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, boolean, bytes };

inline constexpr DType u8 = DType::u8, i8 = DType::i8, u16 = DType::u16, i16 = DType::i16, u32 = DType::u32,
                       i32 = DType::i32, u64 = DType::u64, i64 = DType::i64, f16 = DType::f16, bf16 = DType::bf16,
                       f32 = DType::f32, f64 = DType::f64, boolean = DType::boolean, bytes = DType::bytes;

/// Bytes of one value; 0 for dtype bytes, whose values differ in length.
size_t item_size(DType dtype);

/// NumPy's name: "uint8", "float32", "bool"; "bfloat16" and "bytes", which NumPy lacks.
std::string_view name(DType dtype);

/// The dtype of a C++ type: an integer of 8 to 64 bits, float, double or bool; others do not compile. char is none of
/// them: it is neither int8_t nor uint8_t, and text has dtype bytes.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  static_assert(!std::is_same_v<U, char>,
                "char is not a value type of tensors: read text with bytes_at(i), numbers as int8_t or uint8_t");
  static_assert(std::is_arithmetic_v<U>,
                "a tensor's values are integers, float, double or bool; read text (dtype bytes) with bytes_at(i)");
  if constexpr (std::is_same_v<U, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_floating_point_v<U>) {
    static_assert(sizeof(U) == 4 || sizeof(U) == 8, "only float and double are supported");
    return sizeof(U) == 4 ? DType::f32 : DType::f64;
  } else {
    static_assert(std::is_integral_v<U> && sizeof(U) <= 8, "only integers of 8 to 64 bits are supported");
    constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
    constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
    constexpr int kLog = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
    return std::is_signed_v<U> ? kSigned[kLog] : kUnsigned[kLog];
  }
}

/// True iff values of `dtype` may be read as T: T is its own type, or uint16_t for f16 and bf16, uint8_t for boolean.
template <class T>
constexpr bool readable_as(DType dtype) {
  constexpr DType kOwn = dtype_of<T>();
  if (dtype == kOwn) return true;
  if (kOwn == DType::u16) return dtype == DType::f16 || dtype == DType::bf16;
  return kOwn == DType::u8 && dtype == DType::boolean;
}

}  // namespace headpond
