// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/element_json.h"

#include <cstring>

#include "headpond/base/json.h"
#include "headpond/plan/named_fields.h"

namespace headpond::plan {
namespace {

float from_f16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = 0;
  if (exponent == 0) {
    value = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const uint32_t wide = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float from_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

template <class T>
T value_at(const Tensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, tensor.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

void write_float(JsonWriter& json, const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::f16:
      return void(json.value(from_f16(value_at<uint16_t>(tensor, i))));
    case DType::bf16:
      return void(json.value(from_bf16(value_at<uint16_t>(tensor, i))));
    case DType::f32:
      return void(json.value(value_at<float>(tensor, i)));
    default:
      return void(json.value(value_at<double>(tensor, i)));
  }
}

void write_value(JsonWriter& json, const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::u8:
      return void(json.value(value_at<uint8_t>(tensor, i)));
    case DType::i8:
      return void(json.value(value_at<int8_t>(tensor, i)));
    case DType::u16:
      return void(json.value(value_at<uint16_t>(tensor, i)));
    case DType::i16:
      return void(json.value(value_at<int16_t>(tensor, i)));
    case DType::u32:
      return void(json.value(value_at<uint32_t>(tensor, i)));
    case DType::i32:
      return void(json.value(value_at<int32_t>(tensor, i)));
    case DType::u64:
      return void(json.value(value_at<uint64_t>(tensor, i)));
    case DType::i64:
      return void(json.value(value_at<int64_t>(tensor, i)));
    case DType::boolean:
      return void(json.value(value_at<uint8_t>(tensor, i) != 0));
    case DType::bytes:
      return void(json.begin_object().member("bytes", base64(tensor.bytes_at(i))).end_object());
    default:
      return write_float(json, tensor, i);
  }
}

// The values from number `from` on, along `axis` and the inner axes; returns how many.
int64_t write_values(JsonWriter& json, const Tensor& tensor, int axis, int64_t from) {
  if (axis == tensor.rank()) {
    write_value(json, tensor, from);
    return 1;
  }
  json.begin_array();
  int64_t written = 0;
  for (int64_t i = 0; i < tensor.dim(axis); ++i) written += write_values(json, tensor, axis + 1, from + written);
  json.end_array();
  return written;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (k < group.size() ? static_cast<uint8_t>(group[k]) : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= group.size() ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

void write_fields(JsonWriter& json, const Spec& spec, const Element& element) {
  json.begin_object();
  for (size_t i = 0; i < element.size(); ++i) {
    json.key(shown_name(spec, i));
    write_values(json, element[i], 0, 0);
  }
  json.end_object();
}

std::string element_json(const Spec& spec, const Element& element, int64_t epoch, int64_t index) {
  JsonWriter json;
  json.begin_object().member("epoch", epoch).member("index", index).key("fields");
  write_fields(json, spec, element);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace headpond::plan
