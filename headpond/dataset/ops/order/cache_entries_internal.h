// SPDX-License-Identifier: Apache-2.0
// The cache of elements that have positions.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// The answer for a position: a value, or a hole.
struct CacheEntry {
  Got got = Got::hole;
  Element element;
};

/// Copies memory that a tensor of `element` borrows, so that it lives as long as the element.
void own_memory(Element& element);

/// Entries by position; they stay. Only used ranges of positions take memory, so many slots cost nothing by themselves.
/// Thread-safe without a lock: of two entries for a position the first one stays.
class CacheEntries {
 public:
  explicit CacheEntries(int64_t slots);
  ~CacheEntries();
  CacheEntries(const CacheEntries&) = delete;
  CacheEntries& operator=(const CacheEntries&) = delete;

  /// Null iff there is none. REQUIRES: 0 <= i < slots. Lives as long as this.
  const CacheEntry* find(int64_t i) const;
  /// Keeps `entry` unless there is one; returns the one that is cached.
  const CacheEntry* keep(int64_t i, CacheEntry entry);

 private:
  static constexpr int kBits = 8;
  struct Fork {
    std::array<std::atomic<void*>, 1 << kBits> next{};  // Forks; those of the lowest level: entries.
  };
  static size_t digit(int64_t i, int level) { return static_cast<size_t>(i >> (kBits * level)) & ((1 << kBits) - 1); }
  static void drop(Fork& fork, int level);

  int top_ = 0;  // The level of the root.
  Fork root_;
};

/// Gives the cached elements; the others are those of `input`, and cached while Context::may_keep() is true. Errors are
/// never cached. `cache` outlives the view.
std::shared_ptr<const View> view_cache(std::shared_ptr<const View> input, CacheEntries& cache);

}  // namespace headpond::internal
