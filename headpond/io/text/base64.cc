// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "headpond/io/text/base64_internal.h"

namespace headpond::internal {
namespace {

// Below 0: none.
int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  const size_t whole = text.size();
  while (text.ends_with('=')) text.remove_suffix(1);
  const size_t padding = whole - text.size();
  const bool fits = padding == 0 || (whole % 4 == 0 && padding <= 2);
  if (!fits || text.size() % 4 == 1) return std::nullopt;
  std::string decoded;
  decoded.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded.push_back(static_cast<char>(bits >> count & 0xff));
  }
  return decoded;
}

}  // namespace headpond::internal
