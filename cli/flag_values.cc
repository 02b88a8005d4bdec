// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_values.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace headpond::cli {
namespace {

std::optional<int> cpu(std::string_view text) {
  int number = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int64_t> byte_count(std::string_view text) {
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
  if (read.ec != std::errc() || !is_known || __builtin_mul_overflow(count, int64_t{1} << (10 * power), &bytes))
    return std::nullopt;
  return bytes;
}

std::optional<std::vector<int>> cpu_list(std::string_view text) {
  constexpr int kMost = 4096;  // Numbers in a range.
  std::vector<int> cpus;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const size_t dash = part.find('-');
    const auto first = cpu(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : cpu(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first > kMost) return std::nullopt;
    for (int number = *first; number <= *last; ++number) cpus.push_back(number);
    at = end + 1;
  }
  return cpus;
}

}  // namespace headpond::cli
