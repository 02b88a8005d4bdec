// SPDX-License-Identifier: Apache-2.0
// The offsets of the records of a plain TFRecord file, kept in the cache folder (docs/formats/record_index.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/file/mapped_file.h"

namespace headpond {

inline constexpr uint64_t kHashedBytes = 4096;  ///< Of a file's start and of its end.

/// Distinguishes contents of a file without reading all of it.
struct FileMark {
  uint64_t size = 0;
  int64_t modified_ns = 0;
  uint64_t head_hash = 0;  ///< XXH3 (64 bits) of the first 4 KiB, or of all if the file is shorter.
  uint64_t tail_hash = 0;  ///< The same of the last 4 KiB.
  bool operator==(const FileMark&) const = default;
};
FileMark mark_of(const MappedFile& file);

/// The offsets of records, of four bytes each in a file below 4 GiB, otherwise eight. Thread-safe once made.
class RecordIndex {
 public:
  /// Reads the lengths of all frames, each with its checksum, but no payloads. Stops at the end, or at the first frame
  /// that is truncated or has a damaged length. ResourceExhausted iff there is no memory.
  static Result<RecordIndex> make(const MappedFile& file);
  /// Parses the content of an index file. DataLoss iff it is damaged or truncated, Unimplemented iff it has another
  /// version, FailedPrecondition iff it belongs to a file at another path than `path`. `name` is for the error. Compare
  /// mark() to learn whether it belongs to the file's present content. Allocates no more than the size of `content`.
  static Result<RecordIndex> parse(std::span<const std::byte> content, std::string_view name, std::string_view path);
  /// The index file of the record file at `path`, which should be absolute.
  std::vector<std::byte> to_bytes(std::string_view path) const;

  uint64_t size() const { return size_; }
  /// offset(size()) is the end of the last record. REQUIRES: i <= size().
  uint64_t offset(uint64_t i) const { return narrow_.empty() ? wide_[i] : narrow_[i]; }
  const FileMark& mark() const { return mark_; }

 private:
  void add(uint64_t offset);
  void take_offsets(std::span<const std::byte> from);
  bool offsets_ascend() const;
  FileMark mark_;
  uint64_t size_ = 0;
  std::vector<uint32_t> narrow_;  // One of the two is empty.
  std::vector<uint64_t> wide_;
};

/// The path in the cache folder of the index of the file at `path`; it depends on the absolute path. FailedPrecondition
/// iff there is no cache folder.
Result<std::string> record_index_path(const std::string& path);
void record_index_path(internal::ListOfNames) = delete;

}  // namespace headpond
