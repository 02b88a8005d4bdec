// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/io/inflated/chunk_cache_internal.h"
#include "headpond/io/inflated/gzip_chunks_internal.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostBytes = size_t{2} << 30;

}  // namespace

ChunkCache& ChunkCache::shared() {
  static auto* const cache = new ChunkCache;  // Never destroyed: a dataset may be static.
  return *cache;
}

void ChunkCache::add(std::weak_ptr<const GzipChunks> file, size_t chunk, size_t bytes, bool may_keep) {
  std::deque<Entry> dropped;
  {
    const MutexLock lock(mu_);
    size_t left = may_keep ? 0 : 2 * bytes;
    while (!entries_.empty() && (left > 0 || bytes_ + bytes > kMostBytes)) {
      const size_t freed = entries_.front().bytes;
      if (!entries_.front().file.expired()) left -= std::min(left, freed);
      bytes_ -= freed;
      dropped.push_back(std::move(entries_.front()));
      entries_.pop_front();
    }
    entries_.push_back({std::move(file), chunk, bytes});
    bytes_ += bytes;
  }
  drop(dropped);
}

void ChunkCache::clear() {
  std::deque<Entry> dropped;
  {
    const MutexLock lock(mu_);
    dropped.swap(entries_);
    bytes_ = 0;
  }
  drop(dropped);
}

void ChunkCache::drop(std::deque<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (const auto file = entry.file.lock()) file->drop(entry.chunk);
  }
}

}  // namespace headpond::internal
