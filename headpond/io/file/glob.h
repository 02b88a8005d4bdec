// SPDX-License-Identifier: Apache-2.0
// The files that a pattern means: shards of a data set by wildcards or by their number.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"

namespace headpond {

/// The files of one pattern, sorted by their bytes.
///
/// - The name of an existing file is that file, whatever signs it has.
/// - `name@N`: name-00000-of-0000N to the last of N (at most 1,000,000); opening tells which is missing.
/// - With `*`, `?` or `[...]`, which match within one part of a path and no dot at its start: what is there and no
///   folder; NotFound if nothing is. No folder is searched that the pattern does not name, so links cannot lead in a
///   ring. A folder on the way that cannot be read is an error; a link that leads nowhere is in the list, and opening
///   it tells.
/// - Any other name is itself, and opening tells whether it is there.
Result<std::vector<std::string>> expand_files(const std::string& pattern);

/// Those of all patterns, each in its place; none for an empty list.
Result<std::vector<std::string>> expand_files(std::span<const std::string> patterns);

}  // namespace headpond
