// SPDX-License-Identifier: Apache-2.0
// Names that come from data, in error texts.
#pragma once

#include <string>
#include <string_view>

namespace headpond::internal {

/// In quotes, at most 64 bytes of it, all but printable ASCII as \xhh.
std::string quoted_name(std::string_view name);

}  // namespace headpond::internal
