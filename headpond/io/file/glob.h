// SPDX-License-Identifier: Apache-2.0
// Patterns of file names: shards of a data set, by wildcards or by their number.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

/// The files of one pattern, sorted by the bytes of their names.
///
/// - The name of an existing file is that file, whatever characters it has.
/// - `name@N`: name-00000-of-0000N to the last of N (at most 1,000,000). A missing one is found when it is opened.
/// - With `*`, `?` or `[...]`, which match within one part of a path and not a leading dot: the existing files, without
///   folders; NotFound if there are none. Only folders that the pattern names are searched, so links cannot lead in a
///   circle. A folder on the way that cannot be read is an error; a dangling link is listed, and fails when opened.
/// - Any other name is returned as it is, and fails when opened if it does not exist.
Result<std::vector<std::string>> expand_files(const std::string& pattern);

/// The files of all patterns, in the order of the patterns; none for an empty list.
Result<std::vector<std::string>> expand_files(std::span<const std::string> patterns);
inline Result<std::vector<std::string>> expand_files(std::initializer_list<std::string> patterns) {
  return expand_files(std::span(patterns.begin(), patterns.size()));
}
void expand_files(std::initializer_list<internal::ListOfNames>) = delete;  // {{"a", "b"}}: one pair of braces will do.

}  // namespace headpond
