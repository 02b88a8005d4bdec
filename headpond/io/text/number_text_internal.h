// SPDX-License-Identifier: Apache-2.0
// Numbers written as text, independent of the locale.
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
  not_a_number,  ///< Not a number, or only in part; for an integer also a number with a fraction or an exponent.
  out_of_range,  ///< Too large for the type; a number too small for its type is 0 and no fault.
};

/// True iff the decimal number is nearer to 0 than 1 is.
bool is_below_one(std::string_view number);

/// Parses all of `text`, which may begin with one '+'. Integers and floats; floats as std::from_chars reads them, "inf"
/// and "nan" too, rounded once.
template <class T>
NumberFault read_number(std::string_view text, T& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || rest != end) return NumberFault::not_a_number;
  if (error == std::errc()) return NumberFault::none;
  if (!std::is_floating_point_v<T> || !is_below_one(text)) return NumberFault::out_of_range;
  value = 0;
  return NumberFault::none;
}

/// The same for any dtype but bytes, f16 and bf16, into `to`, at any alignment. A boolean is 0, 1, true or false,
/// ignoring the case of letters.
NumberFault read_number_as(DType dtype, std::string_view text, std::byte* to);
/// True iff read_number_as() supports the dtype.
bool is_written_as_number(DType dtype);

}  // namespace headpond::internal
