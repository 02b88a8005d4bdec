// SPDX-License-Identifier: Apache-2.0
// Which inflated chunks are in memory: one list for the program, the oldest first.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "headpond/base/mutex.h"

namespace headpond::internal {

class GzipChunks;

/// Thread-safe. Calls GzipChunks::drop() without a lock of its own.
class ChunkCache {
 public:
  /// Adds a chunk that is in memory. Drops the oldest ones: above 2 GiB, and for twice the bytes added if not
  /// `may_keep`. Never the one added.
  void add(std::weak_ptr<const GzipChunks> file, size_t chunk, size_t bytes, bool may_keep);
  /// Drops all.
  void clear();

  static ChunkCache& shared();

 private:
  struct Entry {
    std::weak_ptr<const GzipChunks> file;
    size_t chunk, bytes;
  };
  void drop(std::deque<Entry>& entries);

  Mutex mu_;
  std::deque<Entry> entries_ HEADPOND_GUARDED_BY(mu_);
  size_t bytes_ HEADPOND_GUARDED_BY(mu_) = 0;
};

}  // namespace headpond::internal
