// SPDX-License-Identifier: Apache-2.0
// Text in pages of HTML.
// Not for users.
#pragma once

#include <string>
#include <string_view>

namespace headpond {

/// `text` as HTML shows it, also inside an attribute's quotes.
inline std::string html_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace headpond
