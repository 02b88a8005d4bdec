// SPDX-License-Identifier: Apache-2.0
// The offsets of the records of a plain file - TFRecords, lines, rows, samples -, kept in the cache folder
// (docs/formats/record_index.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/growing_array.h"

namespace headpond {

inline constexpr uint64_t kHashedBytes = 4096;  ///< Bytes of a file's start and of its end.

/// Distinguishes contents of a file without reading all of it.
struct FileMark {
  uint64_t size = 0;
  int64_t modified_ns = 0;
  uint64_t head_hash = 0;  ///< XXH3 (64 bits) of the first 4 KiB, or of all if the file is shorter.
  uint64_t tail_hash = 0;  ///< The same of the last 4 KiB.
  bool operator==(const FileMark&) const = default;
};
FileMark mark_of(const MappedFile& file);

/// The reader of TFRecord files. An index belongs to a file and to a reader: a name, and the options that decide what
/// a record is.
inline constexpr std::string_view kTFRecordReader = "tfrecord";

/// The offsets of records, of four bytes each in a file below 4 GiB, otherwise eight. Thread-safe once made.
class RecordIndex {
 public:
  /// An index of no records.
  RecordIndex() = default;
  /// To be made with add(). `changed_ns`: MappedFile::changed_ns(), for records that have no checksums; else 0.
  explicit RecordIndex(const FileMark& mark, int64_t changed_ns = 0) : mark_(mark), changed_ns_(changed_ns) {}

  /// Reads the lengths of all TFRecord frames, each with its checksum, but no payloads. Stops at the end, or at the
  /// first frame that is truncated or has a damaged length. ResourceExhausted iff there is no memory.
  static Result<RecordIndex> make(const MappedFile& file);
  /// Parses the content of an index file. DataLoss iff it is damaged or truncated, Unimplemented iff it has another
  /// version, FailedPrecondition iff it belongs to another reader or to a file at another path than `path`. `name` is
  /// for the error. Compare mark(), and changed_ns() where records have no checksums, to learn whether it belongs to
  /// the file's present content. Allocates no more than the size of `content`.
  static Result<RecordIndex> parse(std::span<const std::byte> content, std::string_view name, std::string_view path,
                                   std::string_view reader = kTFRecordReader);
  /// The same for the index file at `where`, which is mapped unless it is small. Also the errors of opening it.
  static Result<RecordIndex> read(const std::string& where, std::string_view path,
                                  std::string_view reader = kTFRecordReader);
  /// The index with these offsets, of four or eight bytes each, as table() gave them; `memory` keeps them alive.
  /// DataLoss iff these are no whole offsets; a checksum proves the rest.
  static Result<RecordIndex> over(const FileMark& mark, int64_t changed_ns, std::span<const std::byte> table,
                                  std::shared_ptr<const void> memory);
  /// The index file of the record file at `path`, which should be absolute.
  std::vector<std::byte> to_bytes(std::string_view path, std::string_view reader = kTFRecordReader) const;

  uint64_t size() const { return offsets_ == 0 ? 0 : offsets_ - 1; }
  /// offset(size()) is the end of the last record. Offsets ascend and end within the file, unless the file of a mapped
  /// index was damaged since: callers compare neighbours. REQUIRES: i <= size().
  uint64_t offset(uint64_t i) const {
    if (table_ == nullptr) return is_narrow() ? narrow_[i] : wide_[i];
    return is_narrow() ? load<uint32_t>(i) : load<uint64_t>(i);
  }
  const FileMark& mark() const { return mark_; }
  int64_t changed_ns() const { return changed_ns_; }
  /// All offsets, in memory of this object or in what it was read from.
  std::span<const std::byte> table() const;
  /// Further bytes of the reader, in a form of its own.
  std::span<const std::byte> extra() const { return extra_; }

  /// Adds the offset of the next record, at last the end of the last one; never more than `most` in all. REQUIRES:
  /// made by the constructor; ascending; at most mark().size. Throws std::bad_alloc.
  void add(uint64_t offset, size_t most = SIZE_MAX);
  void reserve(size_t offsets);
  void shrink_to_fit();
  void set_extra(std::vector<std::byte> extra) { extra_ = std::move(extra); }

 private:
  static Result<RecordIndex> view(std::span<const std::byte> content, std::string_view name, std::string_view path,
                                  std::string_view reader);
  bool is_narrow() const { return mark_.size >> 32 == 0; }
  uint64_t table_bytes() const { return offsets_ * (is_narrow() ? sizeof(uint32_t) : sizeof(uint64_t)); }
  bool offsets_ascend(uint64_t least) const;
  template <class T>
  uint64_t load(uint64_t i) const {
    T value;
    __builtin_memcpy(&value, table_ + i * sizeof(T), sizeof(T));
    return value;
  }

  FileMark mark_;
  int64_t changed_ns_ = 0;
  uint64_t offsets_ = 0;  // One more than records.
  // Offsets of an index that is being made: one of the two is empty.
  GrowingArray<uint32_t> narrow_;
  GrowingArray<uint64_t> wide_;
  // Offsets of an index that was read.
  const std::byte* table_ = nullptr;
  std::shared_ptr<const void> memory_;
  std::vector<std::byte> extra_;
};

/// The path in the cache folder of the index of the file at `path`; it depends on the absolute path and the reader.
/// FailedPrecondition iff there is no cache folder.
Result<std::string> record_index_path(const std::string& path, std::string_view reader = kTFRecordReader);
void record_index_path(internal::ListOfNames, std::string_view = {}) = delete;

namespace internal {

/// The absolute path, links resolved, or `path` if that fails. The folder's is remembered for a while, because many
/// files of one folder are asked for: a link that was changed meanwhile gives another file's index, which is refused.
std::string owner_path(const std::string& path);
/// record_index_path() of a file whose owner_path() is `owner`.
Result<std::string> index_path_of_owner(std::string owner, std::string_view reader = kTFRecordReader);

}  // namespace internal

}  // namespace headpond
