// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/without_path.h"

namespace headpond::plan {
namespace {

// How many bytes after the name at the beginning of a message go with it.
size_t gap_after_first(std::string_view after) {
  if (after.starts_with(": ") || after.starts_with(", ")) return 2;
  return after.starts_with(' ') ? 1 : 0;
}

}  // namespace

std::string without_path(std::string text, std::string_view path) {
  constexpr std::string_view kCause = "; caused by ";
  if (path.empty()) return text;
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const std::string_view after = std::string_view(text).substr(at + path.size());
    const bool is_first = before.empty() || before.ends_with(": ");
    const size_t gap = is_first ? gap_after_first(after) : 0;
    const bool is_object = !is_first && before.ends_with(' ') && (after.empty() || after.starts_with(": "));
    if (gap > 0) text.erase(at, path.size() + gap);
    if (is_object) text.erase(at - 1, path.size() + 1);
    // Each message names the file once; the same letters elsewhere in it are something else.
    at = gap > 0 || is_object ? text.find(kCause, at) : at + path.size();
    if (at == std::string::npos) break;
  }
  return text;
}

}  // namespace headpond::plan
