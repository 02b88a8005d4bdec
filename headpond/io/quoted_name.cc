// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {

std::string quoted_name(std::string_view name) {
  constexpr size_t kShown = 64;
  std::string text = "'";
  for (const char c : name.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text + (name.size() > kShown ? fmt::format("...' ({} bytes)", name.size()) : "'");
}

}  // namespace headpond::internal
