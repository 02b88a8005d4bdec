// SPDX-License-Identifier: Apache-2.0
// UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace headpond::internal {

/// What some programs write in front of UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// The length of the well-formed character at the start of `text`, or 0. REQUIRES: not empty.
size_t character_bytes(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace headpond::internal
