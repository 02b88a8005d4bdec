// SPDX-License-Identifier: Apache-2.0
// For what the library itself writes into event files.
#pragma once

#include <string>
#include <string_view>

namespace headpond::internal {

/// `text` with U+FFFD for each byte that is not part of valid UTF-8, as JsonWriter has it.
std::string as_utf8(std::string_view text);

}  // namespace headpond::internal
