// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, sections 4 and 5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headpond::internal {

/// The bytes of `text` in either alphabet, with padding or without; nullopt iff it is neither.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace headpond::internal
