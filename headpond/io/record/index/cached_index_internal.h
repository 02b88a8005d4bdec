// SPDX-License-Identifier: Apache-2.0
// The index of a mapped file whose records have no checksums - lines, rows, samples -, between the cache folder and its
// reader.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/index/record_index.h"

namespace headpond::internal {

/// How long ago a file must have changed for its index to be cached: one that changed just now may change again without
/// another time. Tests lower it.
inline std::atomic<int64_t> youngest_indexed_ns = 2'000'000'000;

/// MappedFile::changed_ns(), or 0 if that was less than youngest_indexed_ns ago.
int64_t settled_change_of(const MappedFile& file);

/// Belongs to a file's present content iff mark() and changed_ns() are the same, and the latter is not 0. Thread-safe.
class CachedIndex {
 public:
  /// `reader`: as for RecordIndex. `is_cached`: false: the cache folder is neither read nor written. `file` must
  /// outlive this.
  CachedIndex(const MappedFile& file, std::string reader, bool is_cached);

  /// `known` if that belongs to the file, else the cached index if that does, else null.
  std::shared_ptr<const RecordIndex> find(std::shared_ptr<const RecordIndex> known) const;
  /// An empty index of the file, to be filled.
  RecordIndex begin() const { return RecordIndex(mark_, changed_ns_); }
  /// Keeps an index that begin() began, unless the file has changed meanwhile. A failure is logged: the index will be
  /// made again.
  void keep(const RecordIndex& index) const;

 private:
  bool belongs(const RecordIndex& index) const;

  const MappedFile& file_;
  const std::string reader_;
  const FileMark mark_;
  const int64_t changed_ns_;
  std::string where_;  // "": nowhere.
};

}  // namespace headpond::internal
