// SPDX-License-Identifier: Apache-2.0
// Files that are written piece by piece, where nobody knows their length before: shards of a data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

/// Makes the file, or empties it. What is written reaches it when 64 KiB have gathered, and at close(). An error is
/// sticky. One thread at a time.
class FileWriter {
 public:
  /// The folder must exist. Errors as in io/file/file.h.
  static Result<std::unique_ptr<FileWriter>> open(const std::string& path);
  /// Closes, and logs an error.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// FailedPrecondition after close().
  Result<void> write(std::string_view bytes);
  /// Hands everything to the disk. Closing twice is fine.
  Result<void> close();

 private:
  class State;
  explicit FileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Gives the file another name in one moment, also where another file has it, and makes that last through a power cut.
/// Both are on one file system.
Result<void> rename_file(const std::string& from, const std::string& to);

/// XXH3 (64 bits, seed 0) of all bytes of a regular file. Errors as MappedFile's.
Result<uint64_t> digest_of_file(const std::string& path);

}  // namespace headpond
