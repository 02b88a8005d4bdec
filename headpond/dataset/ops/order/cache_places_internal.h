// SPDX-License-Identifier: Apache-2.0
// Whether the files of a cache are those that it was made of, though the times of their last writes were set back.
#pragma once

#include <string>

#include "headpond/io/cache/cache_store.h"

namespace headpond::internal {

/// Where files lie and when the system noted their last changes (ctime), which no program can set. Digests.
struct FilePlaces {
  std::string at, changed;  ///< Empty: no files.
};

/// The cache in `folder` for these files: that of `plan`, or one of their own if `plan`'s was used with files at the
/// same place that changed since. Files at a place that the cache has not seen are a copy, as long as none of its files
/// changed. Keeps what it saw in the cache's file "files" (docs/formats/cache.md); if it cannot be written, that is not
/// remembered. Thread-safe, of several processes too.
CachePlan plan_of_files(const std::string& folder, CachePlan plan, const FilePlaces& files);

}  // namespace headpond::internal
