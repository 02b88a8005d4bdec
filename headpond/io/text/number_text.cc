// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "headpond/io/text/number_text_internal.h"

namespace headpond::internal {
namespace {

template <class T>
NumberFault put(std::string_view text, std::byte* to) {
  T value = 0;
  const NumberFault fault = read_number(text, value);
  if (fault == NumberFault::none) std::memcpy(to, &value, sizeof value);
  return fault;
}

bool is_word(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

NumberFault put_boolean(std::string_view text, std::byte* to) {
  const bool yes = text == "1" || is_word(text, "true");
  if (!yes && text != "0" && !is_word(text, "false")) return NumberFault::not_a_number;
  *to = yes ? std::byte{1} : std::byte{0};
  return NumberFault::none;
}

}  // namespace

bool is_below_one(std::string_view number) {
  const size_t e = number.find_first_of("eE");
  int64_t exponent = 0;
  if (e != std::string_view::npos) {
    const std::string_view text = number.substr(e + 1);
    const size_t sign = text.starts_with('+') ? 1 : 0;
    const auto read = std::from_chars(text.data() + sign, text.data() + text.size(), exponent);
    if (read.ec != std::errc()) exponent = text.starts_with('-') ? INT64_MIN / 2 : INT64_MAX / 2;
  }
  const std::string_view digits = number.substr(0, e);
  const size_t point = std::min(digits.find('.'), digits.size()), first = digits.find_first_not_of("+-0.");
  if (first == std::string_view::npos) return true;
  // The number is 0.d1d2... times 10 to this power.
  const int64_t power = first < point ? static_cast<int64_t>(point - first) : -static_cast<int64_t>(first - point - 1);
  return power + std::clamp(exponent, INT64_MIN / 2, INT64_MAX / 2) <= 0;
}

NumberFault read_number_as(DType dtype, std::string_view text, std::byte* to) {
  switch (dtype) {
    case DType::u8:
      return put<uint8_t>(text, to);
    case DType::i8:
      return put<int8_t>(text, to);
    case DType::u16:
      return put<uint16_t>(text, to);
    case DType::i16:
      return put<int16_t>(text, to);
    case DType::u32:
      return put<uint32_t>(text, to);
    case DType::i32:
      return put<int32_t>(text, to);
    case DType::u64:
      return put<uint64_t>(text, to);
    case DType::i64:
      return put<int64_t>(text, to);
    case DType::f32:
      return put<float>(text, to);
    case DType::f64:
      return put<double>(text, to);
    case DType::boolean:
      return put_boolean(text, to);
    default:
      return NumberFault::not_a_number;
  }
}

bool is_written_as_number(DType dtype) { return dtype != DType::bytes && dtype != DType::f16 && dtype != DType::bf16; }

}  // namespace headpond::internal
