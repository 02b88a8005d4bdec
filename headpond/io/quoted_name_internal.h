// SPDX-License-Identifier: Apache-2.0
// Quotes names from data in error messages.
#pragma once

#include <string>
#include <string_view>

namespace headpond::internal {

/// `name` in quotes, at most 64 bytes of it; anything but printable ASCII as \xhh.
std::string quoted_name(std::string_view name);

}  // namespace headpond::internal
