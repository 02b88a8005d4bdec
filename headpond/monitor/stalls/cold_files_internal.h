// SPDX-License-Identifier: Apache-2.0
// The files that a pipeline reads, out of the system's memory.
#pragma once

#include <set>
#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// The files of all sources, without what is read while the dataset is built (idx), what functions read, and
/// datasets that functions make. Throws Exception if a source has none.
std::set<std::string> files_of(const Dataset& dataset);

/// Asks the system to forget them; pages that somebody has mapped stay, as a dataset does that has read them.
void make_cold(const std::set<std::string>& paths);

}  // namespace headpond::internal
