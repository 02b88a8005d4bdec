// SPDX-License-Identifier: Apache-2.0
// Files that are written in pieces, for content of unknown length such as the shards of a data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

/// Creates the file or empties it. Bytes reach the file when 64 KiB have gathered, and at close(). After an error all
/// calls return that error. One thread at a time.
class FileWriter {
 public:
  /// The folder must exist. Errors as in io/file/file.h.
  static Result<std::unique_ptr<FileWriter>> open(const std::string& path);
  static void open(internal::ListOfNames) = delete;
  /// Calls close() and logs its error.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// FailedPrecondition after close().
  Result<void> write(std::string_view bytes);
  /// Writes all gathered bytes and syncs the file to the disk. A second call does nothing.
  Result<void> close();

 private:
  class State;
  explicit FileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Appends to a file, to which others may append as well. A moved-from one can be destroyed and assigned to. One thread
/// at a time.
class FileAppender {
 public:
  /// Creates the file if it doesn't exist. The folder must exist. Blocks until a pipe has a reader. Errors as in
  /// io/file/file.h, but a device may be written.
  static Result<FileAppender> open(const std::string& path);
  static void open(internal::ListOfNames) = delete;
  FileAppender(FileAppender&& other) noexcept;
  FileAppender& operator=(FileAppender&& other) noexcept;
  ~FileAppender();

  /// The bytes reach the file before this returns, in one call of the system: if the process is killed the file has all
  /// of them or none, unless the disk is full. After an error it may have the first ones; a later call may succeed.
  Result<void> append(std::string_view bytes);
  /// Brings all bytes to the disk, so that they survive a power failure. Does nothing for a pipe or a device.
  Result<void> sync();
  /// A pipe or a device, which has no earlier content.
  bool is_stream() const;

 private:
  class State;
  explicit FileAppender(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Renames the file atomically, replacing a file of the new name, and makes the rename survive a power failure. Both
/// names must be on one file system.
Result<void> rename_file(const std::string& from, const std::string& to);
void rename_file(internal::ListOfNames, const std::string&) = delete;
void rename_file(const std::string&, internal::ListOfNames) = delete;

/// The file that is replaced when a writer renames its temporary file to `path`.
struct ReplacedFile {
  std::string path;              ///< `path` or, if that is a symbolic link, the link's target, which need not exist.
  std::optional<uint32_t> mode;  ///< The permission bits for the new file; nullopt: the file does not exist.
  bool is_special = false;       ///< `path` is a pipe, a device or a socket: write into it, and rename nothing.
};
/// FailedPrecondition iff links form a ring. Errors as in io/file/file.h.
Result<ReplacedFile> find_replaced(const std::string& path);
void find_replaced(internal::ListOfNames) = delete;

/// XXH3 (64 bits, seed 0) of the content of a regular file. Errors as MappedFile.
Result<uint64_t> digest_of_file(const std::string& path);
void digest_of_file(internal::ListOfNames) = delete;

}  // namespace headpond
