// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "headpond/dataset/ops/batch/padding_internal.h"

namespace headpond::internal {
namespace {

template <class T>
std::optional<PaddingValue> stored(T value) {
  PaddingValue bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
std::optional<PaddingValue> whole(std::integral auto value) {
  return std::in_range<T>(value) ? stored(static_cast<T>(value)) : std::nullopt;
}
template <class T>
std::optional<PaddingValue> whole(double value) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);  // The largest value + 1: a double for every T.
  if (!(value >= low && value < end) || value != std::floor(value)) return std::nullopt;
  return stored(static_cast<T>(value));
}

double without_low_digits(double value) { return value; }
// The 53 highest digits; the last of them is 1 if a lower one is, so that rounding to fewer digits later is exact.
double without_low_digits(std::integral auto value) {
  const bool is_negative = std::cmp_less(value, 0);
  const uint64_t size = is_negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int low = std::max(static_cast<int>(std::bit_width(size)) - std::numeric_limits<double>::digits, 0);
  const bool has_low = (size & ((uint64_t{1} << low) - 1)) != 0;
  const double high = std::ldexp(static_cast<double>(size >> low | (has_low ? 1 : 0)), low);
  return is_negative ? -high : high;
}

template <class T>
std::optional<PaddingValue> single(T value) {
  const auto rounded = static_cast<float>(value);
  if (std::isinf(rounded) && !std::isinf(static_cast<double>(value))) return std::nullopt;
  return stored(rounded);
}

// 16 bits: a sign, 15 - `digits` bits of exponent, `digits` of fraction.
std::optional<PaddingValue> half(double value, int digits) {
  const int bias = (1 << (14 - digits)) - 1;
  const auto infinity = static_cast<uint16_t>((2 * bias + 1) << digits);
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return stored(static_cast<uint16_t>(infinity | 1 << (digits - 1)));
  if (std::isinf(value)) return stored(static_cast<uint16_t>(infinity | sign));
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  if (exponent > bias) return std::nullopt;
  // In units of the last digit. A normal number has its leading one at 1 << digits, which counts the exponent up once.
  const auto units = static_cast<uint16_t>(std::nearbyint(std::ldexp(std::fabs(value), digits - exponent)));
  const auto bits = static_cast<uint16_t>(((exponent + bias - 1) << digits) + units);
  if (bits >= infinity) return std::nullopt;
  return stored(static_cast<uint16_t>(bits | sign));
}

template <class T>
std::optional<PaddingValue> number_as(DType dtype, T value) {
  switch (dtype) {
    case DType::u8:
      return whole<uint8_t>(value);
    case DType::i8:
      return whole<int8_t>(value);
    case DType::u16:
      return whole<uint16_t>(value);
    case DType::i16:
      return whole<int16_t>(value);
    case DType::u32:
      return whole<uint32_t>(value);
    case DType::i32:
      return whole<int32_t>(value);
    case DType::u64:
      return whole<uint64_t>(value);
    case DType::i64:
      return whole<int64_t>(value);
    case DType::f16:
      return half(without_low_digits(value), 10);
    case DType::bf16:
      return half(without_low_digits(value), 7);
    case DType::f32:
      return single(value);
    case DType::f64:
      return stored(static_cast<double>(value));
    case DType::boolean:
      return value == 0 || value == 1 ? whole<uint8_t>(value) : std::nullopt;
    case DType::bytes:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PaddingValue> padding_value(DType dtype, const PadWith& value) {
  return std::visit(
      [&]<class T>(const T& given) -> std::optional<PaddingValue> {
        if constexpr (std::is_same_v<T, std::string>) {
          return std::nullopt;
        } else {
          return number_as(dtype, given);
        }
      },
      value.value());
}

}  // namespace headpond::internal
