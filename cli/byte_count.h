// SPDX-License-Identifier: Apache-2.0
// Amounts of memory on the command line.
#pragma once

#include <cstdint>
#include <string>

namespace headpond::cli {

/// Of "1000000", "512K", "64M" or "2G"; K is 1024. Throws Exception(InvalidArgument), naming `flag`, for anything else
/// and for what does not fit.
int64_t byte_count(const std::string& flag, const std::string& text);

}  // namespace headpond::cli
