// SPDX-License-Identifier: Apache-2.0
// Values of options that are written in a form of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headpond::cli {

/// The bytes in "1000000", "512K", "64M" or "2G"; K is 1024. Nothing for any other text and for numbers that do not
/// fit.
std::optional<int64_t> byte_count(std::string_view text);

/// "0,2-3" as {0, 2, 3}. Nothing for any other text.
std::optional<std::vector<int>> cpu_list(std::string_view text);

}  // namespace headpond::cli
