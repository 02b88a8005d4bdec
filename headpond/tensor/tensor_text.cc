// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>

#include "headpond/tensor/tensor.h"

namespace headpond {
namespace {

constexpr int64_t kShownValues = 32;
constexpr size_t kShownBytes = 32;

float from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1f) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
}

float from_brain(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text + (value.size() > kShownBytes ? fmt::format("...' ({} bytes)", value.size()) : "'");
}

template <class T>
std::string number(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return fmt::format("{}", value);
}

std::string value_text(const Tensor& tensor, int64_t i) {
  const std::byte* const data = tensor.data();
  switch (tensor.dtype()) {
    case DType::u8:
      return number<uint8_t>(data, i);
    case DType::i8:
      return fmt::format("{}", static_cast<int>(tensor.as<int8_t>()[static_cast<size_t>(i)]));
    case DType::u16:
      return number<uint16_t>(data, i);
    case DType::i16:
      return number<int16_t>(data, i);
    case DType::u32:
      return number<uint32_t>(data, i);
    case DType::i32:
      return number<int32_t>(data, i);
    case DType::u64:
      return number<uint64_t>(data, i);
    case DType::i64:
      return number<int64_t>(data, i);
    case DType::f16:
      return fmt::format("{}", from_half(tensor.as<uint16_t>()[static_cast<size_t>(i)]));
    case DType::bf16:
      return fmt::format("{}", from_brain(tensor.as<uint16_t>()[static_cast<size_t>(i)]));
    case DType::f32:
      return number<float>(data, i);
    case DType::f64:
      return number<double>(data, i);
    case DType::boolean:
      return data[i] != std::byte{0} ? "true" : "false";
    case DType::bytes:
      return quoted(tensor.bytes_at(i));
  }
  return "?";
}

// Appends the values from number `next` on of dimension `axis` and those inside it.
void append_values(const Tensor& tensor, int axis, int64_t& next, std::string& text) {
  if (axis == tensor.rank()) {
    text += value_text(tensor, next++);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < tensor.dim(axis); ++i) {
    if (i > 0) text += ", ";
    if (next >= kShownValues) {
      text += "...";
      break;
    }
    append_values(tensor, axis + 1, next, text);
  }
  text += ']';
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  std::string text = fmt::format("{} {} ", name(tensor.dtype()), tensor.shape().to_string());
  int64_t next = 0;
  if (tensor.size() == 0) return text + "[]";
  append_values(tensor, 0, next, text);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace headpond
