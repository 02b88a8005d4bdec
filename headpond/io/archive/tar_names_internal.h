// SPDX-License-Identifier: Apache-2.0
// The names of members as WebDataset reads them: a key and an extension (tar.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headpond::internal {

struct TarName {
  std::string_view key, extension;
};

/// True iff the first part of the name is in double underscores: metadata.
inline bool is_tar_metadata(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

/// Nothing for metadata, and if the last part of the name has no dot, or nothing before it.
inline std::optional<TarName> split_tar_name(std::string_view name) {
  if (is_tar_metadata(name)) return std::nullopt;
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return TarName{name.substr(0, dot), name.substr(dot + 1)};
}

/// In lower case (ASCII).
inline std::string tar_extension(const TarName& name) {
  std::string lower(name.extension);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower;
}

}  // namespace headpond::internal
