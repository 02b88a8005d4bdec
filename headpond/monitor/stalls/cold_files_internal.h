// SPDX-License-Identifier: Apache-2.0
// The files that a pipeline reads, out of the system's memory.
#pragma once

#include <set>
#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// Those that the sources name. Not all of a list that is so long that a plan cuts it: `are_all` is false then.
struct SourceFiles {
  std::set<std::string> paths = {};
  bool are_all = true;
};
SourceFiles files_of(const Dataset& dataset);

/// Asks the system to forget them; pages that somebody has mapped stay, as a dataset does that has read them.
void make_cold(const std::set<std::string>& paths);

}  // namespace headpond::internal
