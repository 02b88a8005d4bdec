// SPDX-License-Identifier: Apache-2.0
// Amounts of memory on the command line.
#pragma once

#include <cstdint>
#include <string>

namespace headpond::cli {

/// The bytes in "1000000", "512K", "64M" or "2G"; K is 1024. Throws Exception(InvalidArgument), which names `flag`, for
/// anything else and for numbers that do not fit.
int64_t byte_count(const std::string& flag, const std::string& text);

}  // namespace headpond::cli
