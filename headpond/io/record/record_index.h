// SPDX-License-Identifier: Apache-2.0
// Where the records of a plain TFRecord file begin, kept beside other files' in the cache folder
// (docs/formats/record_index.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/file/mapped_file.h"

namespace headpond {

inline constexpr uint64_t kHashedBytes = 4096;  ///< Of a file's start and of its end.

/// What tells one content of a file from another without reading all of it.
struct FileMark {
  uint64_t size = 0;
  int64_t modified_ns = 0;
  uint64_t head_hash = 0;  ///< XXH3 (64 bits) of the first 4 KiB, or of all if the file is shorter.
  uint64_t tail_hash = 0;  ///< The same of the last 4 KiB.
  bool operator==(const FileMark&) const = default;
};
FileMark mark_of(const MappedFile& file);

/// Where records begin. Offsets take four bytes each in a file below 4 GiB, else eight. Thread-safe once made.
class RecordIndex {
 public:
  /// Goes through the file's frames once; reads each length with its checksum, and of the payloads nothing. Ends at the
  /// first frame that is cut or whose length is damaged, or at the end. ResourceExhausted iff there is no memory.
  static Result<RecordIndex> make(const MappedFile& file);
  /// From the bytes of an index file. DataLoss iff they are damaged or cut, Unimplemented iff of another version,
  /// FailedPrecondition iff of a file at another path than `path`. `name` is for the error. Whether it is of the file's
  /// present content is told by mark(). Asks for no more memory than `content` has.
  static Result<RecordIndex> parse(std::span<const std::byte> content, std::string_view name, std::string_view path);
  /// For a file at `path`, which should be absolute.
  std::vector<std::byte> to_bytes(std::string_view path) const;

  uint64_t size() const { return size_; }
  /// REQUIRES: i <= size(); offset(size()) is where the last record ends.
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

/// The file of the cache folder that keeps the index of the file at `path`: its name follows from the absolute path.
/// FailedPrecondition iff there is no cache folder.
Result<std::string> record_index_path(const std::string& path);

}  // namespace headpond
