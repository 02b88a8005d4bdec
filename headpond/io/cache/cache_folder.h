// SPDX-License-Identifier: Apache-2.0
// The content of a folder of caches (io/cache/cache_store.h), and its removal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

struct CacheInfo {
  std::string key;        ///< Its folder's name: 32 hexadecimal digits.
  std::string plan;       ///< The operators that made its elements, one a line; "" iff its plan file is damaged.
  int64_t slots = -1;     ///< Positions that it can have; -1: not known.
  int64_t elements = 0;   ///< Elements that it has; damaged ones whose bytes nobody looked at count too.
  int64_t holes = 0;      ///< Positions without an element, as far as that is known.
  bool complete = false;  ///< All elements are cached; the input isn't read again.
  uint64_t bytes = 0;     ///< On the disk.
  int64_t used_ns = 0;    ///< When a run last opened it, in nanoseconds since 1970.
};

/// The caches in `folder`, sorted by key. Other folders and files are left out, and so are the elements of a dataset
/// that save() wrote there: they are no copy. NotFound or FailedPrecondition for a folder that does not exist or cannot
/// be read.
Result<std::vector<CacheInfo>> list_caches(const std::string& folder);
void list_caches(internal::ListOfNames) = delete;

/// Removes the cache `key` in `folder`, also while runs use it: these go on, and the system frees the space when the
/// last one ends. NotFound iff there is none. Removes only files that a cache has; FailedPrecondition if other files
/// are among them.
Result<void> remove_cache(const std::string& folder, const std::string& key);

}  // namespace headpond
