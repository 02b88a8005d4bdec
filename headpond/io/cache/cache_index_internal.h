// SPDX-License-Identifier: Apache-2.0
// Where each element of a cache lies: files of 65,536 entries, found by the element's position. Several processes read
// and write the same entries without a lock: an entry proves itself by a checksum (docs/formats/cache.md).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/file/system_internal.h"

namespace headpond::internal {

/// What a cache is made of, as 128 bits of a hash.
struct CacheKey {
  uint64_t low = 0, high = 0;
  std::string text() const;  ///< 32 hexadecimal digits.
  bool operator==(const CacheKey&) const = default;
};

enum class EntryKind : uint8_t { value = 1, hole = 2, end = 3 };

struct IndexEntry {
  EntryKind kind = EntryKind::hole;
  uint32_t segment = 0;  ///< For a value: the number of its data file, below kMostSegments,
  uint64_t offset = 0;   ///< where it begins there, a multiple of 64,
  uint64_t size = 0;     ///< its bytes,
  uint64_t hash = 0;     ///< and their hash_of_record().
  bool operator==(const IndexEntry&) const = default;
};

inline constexpr int64_t kMostPositions = int64_t{1} << 32;
inline constexpr uint32_t kMostSegments = uint32_t{1} << 16;
inline constexpr size_t kEntryBytes = 32;

/// The 32 bytes of an entry for `position` of this cache. REQUIRES: the fields are within the limits above.
std::array<uint64_t, 4> to_words(const IndexEntry& entry, int64_t position, const CacheKey& key);
/// nullopt for bytes that to_words() does not give for this position and cache; zeros, for example.
std::optional<IndexEntry> from_words(const std::array<uint64_t, 4>& words, int64_t position, const CacheKey& key);

/// Thread-safe.
class CacheIndex {
 public:
  static constexpr int kChunkBits = 16;
  static constexpr int64_t kChunkEntries = int64_t{1} << kChunkBits;

  /// `folder` is that of the cache. Opens nothing yet.
  CacheIndex(std::string folder, const CacheKey& key);
  ~CacheIndex();
  CacheIndex(const CacheIndex&) = delete;
  CacheIndex& operator=(const CacheIndex&) = delete;

  /// nullopt iff there is no entry, or it is damaged. REQUIRES: 0 <= position < kMostPositions.
  std::optional<IndexEntry> find(int64_t position) const;
  /// Replaces the entry. Errors of the system.
  Result<void> put(int64_t position, const IndexEntry& entry);

  /// Why find() has no answer, if the file with the entry is there but cannot be opened now; else no error.
  Error open_error(int64_t position) const;
  /// Whether the file with the entry is open.
  bool is_open(int64_t position) const { return known(position) != nullptr; }

  /// Whether mark_checked() was called for this position with an equal entry: another process may have written another
  /// one since. Belongs to this object, not to the files.
  bool is_checked(int64_t position, const IndexEntry& entry) const;
  void mark_checked(int64_t position, const IndexEntry& entry);
  void unmark_checked(int64_t position);

  /// "index-0000" and so on, the name of the file with this entry.
  static std::string file_name(int64_t position);

 private:
  struct Chunk {
    Chunk(std::string file_path, UniqueFd opened, std::span<const std::byte> mapped);
    ~Chunk();
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    const std::string path;
    const UniqueFd file;  // None if many are open: then it is opened for each write.
    const std::span<const std::byte> bytes;
    std::optional<MappingGuard> guard;
    std::array<std::atomic<uint32_t>, kChunkEntries> checked{};  // mark_of() the entry; 0: none.
  };
  using Row = std::array<std::atomic<Chunk*>, 256>;

  uint32_t mark_of(int64_t position, const IndexEntry& entry) const;
  Chunk* known(int64_t position) const;
  Result<Chunk*> open(int64_t position, bool to_write) const;

  const std::string folder_;
  const CacheKey key_;
  mutable Mutex mu_;  // While a chunk is opened.
  mutable std::array<std::atomic<Row*>, 256> rows_{};
  mutable std::vector<std::unique_ptr<Row>> all_rows_ HEADPOND_GUARDED_BY(mu_);
  mutable std::vector<std::unique_ptr<Chunk>> all_chunks_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
