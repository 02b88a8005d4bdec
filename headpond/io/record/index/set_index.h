// SPDX-License-Identifier: Apache-2.0
// How many records each file of a data set has and where they are, kept in the cache folder
// (docs/formats/record_index.md): so a data set of many files is opened without a look into each of them.
// Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/record/index/record_index.h"

namespace headpond {

/// The system's facts of a file, without a look into it. Times are in nanoseconds since 1970.
struct FileStamp {
  uint64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  ///< When content or properties changed (ctime): no program can set it.
  uint64_t inode = 0;
  uint64_t device = 0;
  bool operator==(const FileStamp&) const = default;
  /// Whether an equal stamp proves the same content: false where the file system gives no ctime or inode, and for one
  /// that was made too soon after a change (FileSet).
  bool is_proof() const { return changed_ns != 0 && inode != 0; }
};
/// Errors as those of stat(2).
Result<FileStamp> stamp_of(const std::string& path);

namespace internal {
class KeptFd;
struct FileFacts;
FileStamp stamp_from(const FileFacts& facts);
}  // namespace internal

/// The same for many files: those in the folder of the first one are found in it by their names. Thread-safe.
class Stamps {
 public:
  explicit Stamps(const std::string& first);
  ~Stamps();
  Result<FileStamp> of(const std::string& path) const;

 private:
  std::string folder_;  // With the last slash; "": none.
  std::unique_ptr<const internal::UniqueFd> open_;
};

/// The state of one file when its records were counted.
struct CountedFile {
  FileStamp stamp;
  FileMark mark;
  int64_t records = 0;
  bool operator==(const CountedFile&) const = default;
};

/// Where a record begins and ends in its file.
struct RecordRange {
  uint64_t begin, end;
};

/// The cached entry of one data set. Thread-safe.
class CachedSet {
 public:
  std::vector<CountedFile> files;
  /// Where the records of file n are; null if the entry has no offsets of it, or damaged ones: then the entry is
  /// removed, so that it is made anew. It may outlive this.
  std::shared_ptr<const RecordIndex> offsets(size_t n) const;
  bool has_offsets(size_t n) const { return tables_[n].bytes > 0; }

 private:
  friend class SetIndex;
  friend class KnownOffsets;
  std::optional<RecordRange> range(size_t n, uint64_t i) const;
  void remove() const;
  struct Table {
    uint64_t at, bytes;  // In the mapped file.
    int64_t changed_ns;
    uint32_t sums_crc;
  };
  std::vector<Table> tables_;
  std::shared_ptr<const MappedFile> file_;
  FileStamp stamp_;                               // Of that file,
  std::shared_ptr<const internal::KeptFd> open_;  // and it again; null: not open.
};

/// The offsets of one file, in memory or in a cached entry. Thread-safe.
class KnownOffsets {
 public:
  KnownOffsets() = default;
  KnownOffsets(std::shared_ptr<const RecordIndex> offsets) : offsets_(std::move(offsets)) {}
  /// REQUIRES: has_offsets(n).
  KnownOffsets(std::shared_ptr<const CachedSet> set, size_t n) : set_(std::move(set)), n_(n) {}

  explicit operator bool() const { return offsets_ != nullptr || set_ != nullptr; }
  /// The number of records. REQUIRES: there are offsets, here and below.
  uint64_t size() const;
  const FileMark& mark() const;
  /// Where record i begins and ends, read without the rest of the entry; nullopt: ask all().
  std::optional<RecordRange> range(uint64_t i) const;
  /// Null if they turned out to be damaged, see CachedSet; also if there are none.
  std::shared_ptr<const RecordIndex> all() const;

 private:
  std::shared_ptr<const RecordIndex> offsets_;
  std::shared_ptr<const CachedSet> set_;
  size_t n_ = 0;
};

/// The counts of one data set: of these files, in this order, read in this way. Thread-safe.
class SetIndex {
 public:
  /// `reader` says how records are counted: the name of the source and its options.
  SetIndex(std::string_view reader, std::span<const std::string> paths);

  /// The cached entry; null if there is none, if it is damaged, or without a cache folder.
  std::shared_ptr<const CachedSet> read() const;
  /// Replaces the cached entry. An error is for information: the counts will be made again. `offsets`: those of each
  /// file, or null; only those without extra() that end where the file does are written. REQUIRES: one of `files` for
  /// each path; as many offsets, or none.
  Result<void> keep(std::span<const CountedFile> files,
                    std::span<const std::shared_ptr<const RecordIndex>> offsets = {}) const;
  /// Empty if there is no cache folder.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  uint64_t key_[2];  // XXH3 (128 bits) of reader and absolute paths.
  size_t files_;
};

}  // namespace headpond
