// SPDX-License-Identifier: Apache-2.0
// Counts for people.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace headpond::cli {

/// "1 record", "2 records"; `more`: the plural, if it is not `one` and an s: "2 entries".
std::string in_words(std::integral auto count, std::string_view one, std::string_view more = "") {
  if (count == 1 || more.empty()) return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  return fmt::format("{} {}", count, more);
}

}  // namespace headpond::cli
