// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "headpond/dataset/padding_internal.h"

namespace headpond::internal {
namespace {

template <class T>
std::optional<PaddingValue> stored(T value) {
  PaddingValue bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
std::optional<PaddingValue> whole(double value) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);  // The largest value + 1: a double for every T.
  if (!(value >= low && value < end) || value != std::floor(value)) return std::nullopt;
  return stored(static_cast<T>(value));
}

std::optional<PaddingValue> single(double value) {
  const auto rounded = static_cast<float>(value);
  if (std::isinf(rounded) && !std::isinf(value)) return std::nullopt;
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

int64_t volume(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

// run(from, to, count) for each contiguous run of a tensor of `dims` within one of `outer`.
template <class Run>
void for_runs(std::span<const int64_t> dims, std::span<const int64_t> outer, int64_t from, int64_t to, const Run& run) {
  if (dims.size() <= 1) {
    run(from, to, dims.empty() ? 1 : dims[0]);
    return;
  }
  const auto inner = dims.subspan(1), outer_inner = outer.subspan(1);
  const int64_t step = volume(inner), outer_step = volume(outer_inner);
  for (int64_t i = 0; i < dims[0]; ++i) for_runs(inner, outer_inner, from + i * step, to + i * outer_step, run);
}

}  // namespace

std::optional<PaddingValue> padding_value(DType dtype, double value) {
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
      return half(value, 10);
    case DType::bf16:
      return half(value, 7);
    case DType::f32:
      return single(value);
    case DType::f64:
      return stored(value);
    case DType::boolean:
      return value == 0 || value == 1 ? whole<uint8_t>(value) : std::nullopt;
    case DType::bytes:
      break;
  }
  return std::nullopt;
}

void write_padded(const Tensor& tensor, const Shape& shape, const PaddingValue& value, std::byte* place) {
  const size_t item = item_size(tensor.dtype());
  const auto count = static_cast<size_t>(shape.size().value_or(0));
  const bool is_whole = tensor.has_shape(shape);
  if (!is_whole && value == PaddingValue{}) {
    if (count != 0) std::memset(place, 0, count * item);
  } else if (!is_whole) {
    for (size_t i = 0; i < count; ++i) std::memcpy(place + i * item, value.data(), item);
  }
  if (tensor.size() == 0) return;
  const Shape own = tensor.shape();
  for_runs(own.dims(), shape.dims(), 0, 0, [&](int64_t from, int64_t to, int64_t length) {
    std::memcpy(place + static_cast<size_t>(to) * item, tensor.data() + static_cast<size_t>(from) * item,
                static_cast<size_t>(length) * item);
  });
}

void append_padded(const Tensor& tensor, const Shape& shape, std::vector<std::string_view>& values) {
  const auto begin = static_cast<int64_t>(values.size());
  values.resize(values.size() + static_cast<size_t>(shape.size().value_or(0)));
  if (tensor.size() == 0) return;
  const Shape own = tensor.shape();
  for_runs(own.dims(), shape.dims(), 0, begin, [&](int64_t from, int64_t to, int64_t length) {
    for (int64_t i = 0; i < length; ++i) values[static_cast<size_t>(to + i)] = tensor.bytes_at(from + i);
  });
}

}  // namespace headpond::internal
