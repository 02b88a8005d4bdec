// SPDX-License-Identifier: Apache-2.0
// Files: read in order, written atomically, cached in one folder of the user. Errors name the path and the reason that
// the system gave, and Error::os_error() has its number. Kinds: NotFound; FailedPrecondition for a folder, a device, a
// missing permission, and for most errors of a network file system; DataLoss for a file that shrinks and for I/O
// errors; ResourceExhausted for a full disk, no memory, no descriptors and exceeded limits; DeadlineExceeded for
// ETIMEDOUT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

/// A source of bytes, in order. One thread at a time.
class ByteReader {
 public:
  virtual ~ByteReader() = default;
  /// Reads into the front of `to`. Returns the number of bytes: at least one, unless the end is reached or `to` is
  /// empty.
  virtual Result<size_t> read(std::span<std::byte> to) = 0;
  /// An upper bound of the bytes still to come, known before they are read, so that no reader allocates more.
  virtual uint64_t left_at_most() const = 0;
  /// The file's path, for error messages.
  virtual const std::string& name() const = 0;
};

/// Reads until `to` is full or the end is reached. Returns the number of bytes.
Result<size_t> read_fully(ByteReader& reader, std::span<std::byte> to);

/// Reads a regular file, as long as it was when opened: bytes that are appended later are not read; DataLoss iff the
/// file shrinks.
Result<std::unique_ptr<ByteReader>> open_file_reader(const std::string& path);

/// Reads a pipe, a device or a file to its end; "-" is the standard input. left_at_most() is UINT64_MAX. A read blocks
/// until bytes arrive.
Result<std::unique_ptr<ByteReader>> open_stream_reader(const std::string& path);
void open_stream_reader(internal::ListOfNames) = delete;

/// Reads `start`, which is copied, then `rest`: for callers that had to look at the first bytes.
std::unique_ptr<ByteReader> make_joined_reader(std::span<const std::byte> start, std::unique_ptr<ByteReader> rest);

/// Reads `bytes`, which must outlive the reader.
std::unique_ptr<ByteReader> make_memory_reader(std::string name, std::span<const std::byte> bytes);

/// The content of a file. ResourceExhausted iff it is longer than `limit`.
Result<std::vector<std::byte>> read_file(const std::string& path, uint64_t limit = UINT64_MAX);
void read_file(internal::ListOfNames, uint64_t = UINT64_MAX) = delete;

/// Reads a file whose size is known, with one call of the system. False iff the file has another size than `to`, whose
/// content is then undefined. Errors as read_file().
Result<bool> read_file_of_size(const std::string& path, std::span<std::byte> to);
void read_file_of_size(internal::ListOfNames, std::span<std::byte>) = delete;

/// The begin of a regular file, and how long it is.
struct FileHead {
  size_t bytes = 0;         ///< Bytes that were read: all of `to`, or the whole file.
  uint64_t file_bytes = 0;  ///< When it was opened.
};
/// Reads the first bytes of a file into `to`, and no more of it. DataLoss iff the file shrinks meanwhile; other errors
/// as read_file().
Result<FileHead> read_file_head(const std::string& path, std::span<std::byte> to);
void read_file_head(internal::ListOfNames, std::span<std::byte>) = delete;

/// Reads a regular file from byte `offset` on. DataLoss iff the file is shorter.
Result<std::unique_ptr<ByteReader>> open_file_reader(const std::string& path, uint64_t offset);
void open_file_reader(internal::ListOfNames, uint64_t = 0) = delete;

/// Creates or replaces the file: a reader sees all of the old content or all pieces in sequence, also after a power
/// failure. After an error the old file is unchanged and no temporary file is left. Thread-safe; the last of several
/// calls wins. If `path` is a symbolic link its target is replaced, and the link stays. The mode of an old file is
/// kept; a new one has 0666 without the umask's bits. A pipe or a device stays what it is: the pieces are written into
/// it, after waiting for a reader of a pipe.
Result<void> write_file_atomically(const std::string& path, std::initializer_list<std::span<const std::byte>> pieces);
void write_file_atomically(internal::ListOfNames, std::initializer_list<std::span<const std::byte>>) = delete;

/// Creates the folder and its parents; succeeds if it exists.
Result<void> make_folders(const std::string& path);
void make_folders(internal::ListOfNames) = delete;

/// The error of a system call of the caller's own, as above: "cannot remove /x: Permission denied (EACCES)".
Error file_error(std::string_view action, const std::string& path, int error_number);

/// The folder for files that can be made again: $XDG_CACHE_HOME/headpond, else $HOME/.cache/headpond. This call does
/// not create it. FailedPrecondition iff neither variable has an absolute path.
Result<std::string> cache_folder();

}  // namespace headpond
