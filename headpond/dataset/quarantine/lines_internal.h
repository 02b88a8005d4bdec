// SPDX-License-Identifier: Apache-2.0
// The lines of a quarantine file.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond::internal {

inline Result<std::string> text_of_file(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return fail(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

/// Calls `each` for each line of `text`, '\n' included; the last line may lack it.
template <class Each>
void for_lines(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    each(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace headpond::internal
