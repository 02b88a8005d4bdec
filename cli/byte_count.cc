// SPDX-License-Identifier: Apache-2.0
#include "cli/byte_count.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond::cli {

int64_t byte_count(const std::string& flag, const std::string& text) {
  const char* const end = text.data() + text.size();
  int64_t count = 0;
  const auto read = std::from_chars(text.data(), end, count);
  const std::string_view unit(read.ptr, static_cast<size_t>(end - read.ptr));
  const size_t power =
      unit.empty()
          ? 0
          : std::string_view(" KMG").find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  const bool is_known = unit.size() < 2 && power != std::string_view::npos && (unit.empty() || power > 0);
  int64_t bytes = 0;
  if (read.ec != std::errc() || !is_known ||
      __builtin_mul_overflow(count, int64_t{1} << (10 * (is_known ? power : 0)), &bytes)) {
    throw Exception(
        Error(ErrorKind::InvalidArgument,
              fmt::format("--{} {}: a number of bytes is expected, as 1000000, 512K, 64M or 2G", flag, text)));
  }
  return bytes;
}

}  // namespace headpond::cli
