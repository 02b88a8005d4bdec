// SPDX-License-Identifier: Apache-2.0
// How many records each file of a data set has, kept in the cache folder (docs/formats/record_index.md): so a data set
// of many files is opened without a look into each of them. Not for users.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/record/record_index.h"

namespace headpond {

/// What the system says of a file without a look into it. Times are in nanoseconds since 1970.
struct FileStamp {
  uint64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  ///< Of content or properties (ctime): no program can set it.
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
/// Errors as those of stat(2).
Result<FileStamp> stamp_of(const std::string& path);

/// What one file was when its records were counted.
struct CountedFile {
  FileStamp stamp;
  FileMark mark;
  int64_t records = 0;
  bool operator==(const CountedFile&) const = default;
};

/// The counts of one data set: of these files, in this order, read in this way. Thread-safe.
class SetIndex {
 public:
  /// `reader` says how records are counted: the name of the source and its options.
  SetIndex(std::string_view reader, std::span<const std::string> paths);

  /// What was kept, one for each path; nullopt if nothing was, or what was is damaged, or there is no cache folder.
  std::optional<std::vector<CountedFile>> read() const;
  /// Replaces what was kept. An error is for information: the counts will be made again. REQUIRES: one for each path.
  Result<void> keep(std::span<const CountedFile> files) const;
  /// Empty if there is no cache folder.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  uint64_t key_[2];  // XXH3 (128 bits) of reader and absolute paths.
  size_t files_;
};

}  // namespace headpond
