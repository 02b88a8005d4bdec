// SPDX-License-Identifier: Apache-2.0
// The cache of elements that have positions.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "headpond/dataset/node.h"
#include "headpond/dataset/ops/order/cache_sequence_internal.h"
#include "headpond/io/cache/cache_store.h"

namespace headpond::internal {

/// The answer for a position: a value, or a hole.
struct CacheEntry {
  Got got = Got::hole;
  Element element;
};

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
  /// Keeps `entry` unless there is one; returns the one that is cached. `is_new`, unless null, is set iff it is
  /// `entry`.
  const CacheEntry* keep(int64_t i, CacheEntry entry, bool* is_new = nullptr);

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

/// What a cache has for one seed. In memory first, if it may keep elements there; else on disk.
struct CacheContent {
  std::unique_ptr<CacheEntries> entries = nullptr;    ///< In memory, by position;
  std::unique_ptr<CacheSequence> sequence = nullptr;  ///< in memory, in order;
  std::shared_ptr<CacheStore> store = nullptr;        ///< on disk.
  int64_t memory = 0;                                 ///< Most bytes in memory.
  std::atomic<int64_t> in_memory = 0;
  mutable std::atomic<bool> has_warned = false;

  /// Whether an element may be kept in memory. If the Loaders' memory says no, and there is no disk, the first time is
  /// a warning. Thread-safe.
  bool has_room(const Context& context) const;
};
/// Bytes of all fields.
int64_t cached_bytes(const Element& element);
/// The answer of the store for a position, if there is one: pending says that there is none. Elements that do not fit
/// `spec` count as damaged.
Got find_on_disk(const CacheContent& content, const Spec& spec, int64_t position, Element& out);

/// Gives the cached elements; the others are those of `input`, and cached: in memory while CacheContent::has_room() is
/// true, else on disk. Errors are never cached. `content` outlives the view.
std::shared_ptr<const View> view_cache(std::shared_ptr<const View> input, const Spec& spec, CacheContent& content);

}  // namespace headpond::internal
