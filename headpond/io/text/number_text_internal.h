// SPDX-License-Identifier: Apache-2.0
// Numbers as people write them, whatever the locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "headpond/tensor/dtype.h"

namespace headpond::internal {

enum class NumberFault : uint8_t {
  none,
  not_a_number,  ///< Or not wholly one; for an integer also a number with a fraction or an exponent.
  out_of_range,  ///< Of the type; a number that is too small for its type is 0 and no fault.
};

/// Of a decimal number: whether it is nearer to 0 than 1 is.
bool is_below_one(std::string_view number);

/// Reads all of `text`, which may begin with one '+'. Integers and floats; floats as std::from_chars knows them, "inf"
/// and "nan" too, rounded once.
template <class T>
NumberFault read_number(std::string_view text, T& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || behind != end) return NumberFault::not_a_number;
  if (error == std::errc()) return NumberFault::none;
  if (!std::is_floating_point_v<T> || !is_below_one(text)) return NumberFault::out_of_range;
  value = 0;
  return NumberFault::none;
}

/// The same for any dtype but bytes, f16 and bf16, into `to`, at any alignment. A boolean is 0, 1, true or false,
/// whatever the case of its letters.
NumberFault read_number_as(DType dtype, std::string_view text, std::byte* to);
/// True iff read_number_as() knows it.
bool is_written_as_number(DType dtype);

}  // namespace headpond::internal
