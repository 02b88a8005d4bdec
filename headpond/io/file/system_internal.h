// SPDX-License-Identifier: Apache-2.0
// All system calls of this room: each is repeated when a signal interrupts it, names its file in the error, and can be
// made to fail by a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/base/system/unique_fd.h"

namespace headpond::internal {

/// "cannot open /x: No such file or directory (ENOENT)"; the kind follows from the error number, which
/// Error::os_error() returns.
Error system_error(std::string_view action, const std::string& path, int error_number);

Result<UniqueFd> open_file(const std::string& path, int flags);
/// Duplicates `fd`; `name` is for the error.
Result<UniqueFd> duplicate(int fd, const std::string& name);
/// The size of the regular file `file`. FailedPrecondition iff it is a folder or anything else.
Result<uint64_t> regular_file_size(const UniqueFd& file, const std::string& path);
/// The properties of a file.
struct FileFacts {
  uint64_t device = 0, inode = 0;  ///< Identify the file, whatever its name.
  uint64_t size = 0;
  int64_t modified_ns = 0;  ///< nanoseconds_since_1970() of the last write.
  int64_t changed_ns = 0;   ///< The same of the last change of content or properties, which no program can set.
  bool is_stream = false;   ///< A pipe, a socket or a character device, which have no size.
  bool is_same_file(const FileFacts& other) const { return device == other.device && inode == other.inode; }
};
/// The nearest int64_t for times that it cannot represent (years outside 1677 to 2262).
int64_t nanoseconds_since_1970(int64_t seconds, int64_t nanoseconds);
Result<FileFacts> examine(const UniqueFd& file, const std::string& path);
Result<FileFacts> examine_path(const std::string& path);
/// The same of `name` in an open folder: a long path is not walked again for each of its files. `path` is for the
/// error.
Result<FileFacts> examine_in(const UniqueFd& folder, const char* name, const std::string& path);
/// The size of the file `name` in an open folder; nullopt iff it is a folder. FailedPrecondition iff it is neither.
Result<std::optional<uint64_t>> size_unless_folder_in(const UniqueFd& folder, const char* name,
                                                      const std::string& path);
/// Like examine(); FailedPrecondition iff it is not a regular file.
Result<FileFacts> examine_regular(const UniqueFd& file, const std::string& path);
/// Maps `size` bytes from the file's begin on for reading, also beyond its end; an empty span for 0. Bytes beyond the
/// end can be read once the file has grown. The caller calls munmap.
Result<std::span<const std::byte>> map_file(const UniqueFd& file, uint64_t size, const std::string& path);
/// Like read(2): returns 0 iff at the end.
Result<size_t> read_some(const UniqueFd& file, std::span<std::byte> to, const std::string& path);
/// Fills `to` by one read(2) from the file's position on. False iff there are fewer or more bytes up to the end.
Result<bool> read_exactly(const UniqueFd& file, std::span<std::byte> to, const std::string& path);
/// Reads up to `to.size()` bytes from `offset` on, whatever the file's position; fewer only at the end.
Result<size_t> read_at(const UniqueFd& file, uint64_t offset, std::span<std::byte> to, const std::string& path);
/// Makes the next read_some start at `offset`.
Result<void> seek_to(const UniqueFd& file, uint64_t offset, const std::string& path);
Result<void> write_all(const UniqueFd& file, std::span<const std::byte> from, const std::string& path);
/// Writes at `offset`, whatever the file's position; a file that ends before it gets zeros in between.
Result<void> write_at(const UniqueFd& file, uint64_t offset, std::span<const std::byte> from, const std::string& path);
Result<void> truncate_file(const UniqueFd& file, uint64_t size, const std::string& path);
Result<void> sync_file(const UniqueFd& file, const std::string& path);
/// Also reports earlier writes that failed late. `file` is closed in any case.
Result<void> close_file(UniqueFd& file, const std::string& path);
/// The target of a symbolic link as stored; nullopt iff `path` is no link or does not exist.
Result<std::optional<std::string>> read_link(const std::string& path);
/// The type and the permission bits (st_mode) of what `path` leads to; nullopt iff it does not exist.
Result<std::optional<uint32_t>> mode_of(const std::string& path);
/// Sets the times of the last write and of the last read to now.
Result<void> touch_file(const std::string& path);
Result<void> change_mode(const UniqueFd& file, uint32_t mode, const std::string& path);
/// Creates a new file or folder; replaces the final XXXXXX of `path` by a unique suffix.
Result<UniqueFd> make_unique_file(std::string& path);
Result<void> make_unique_folder(std::string& path);
Result<void> rename_path(const std::string& from, const std::string& to);
/// Makes a rename in `folder` survive a power failure.
Result<void> sync_folder(const std::string& folder);
struct FolderEntry {
  std::string name;
  bool is_folder;  ///< Not so a link to one.
};
/// What is in a folder, in any order, without names that begin with a dot.
Result<std::vector<FolderEntry>> list_folder(const std::string& folder);
/// Creates the folder and its parents; succeeds if it exists.
Result<void> make_folders(const std::string& path);

enum class LockState : uint8_t { taken, elsewhere, unknown };
/// Locks the file for this descriptor, without blocking, until the descriptor is closed. `elsewhere` iff another
/// descriptor has the lock, `unknown` iff the file system has no locks.
Result<LockState> try_lock_file(const UniqueFd& file, const std::string& path);
struct FileLock {
  UniqueFd file;
  bool locked;  ///< False iff the file system has no locks.
};
/// Creates the file if it does not exist, and blocks until the descriptor has the lock. Cancelled iff a stop is
/// requested first.
Result<FileLock> lock_file(const std::string& path, const std::stop_token& stop);

/// What a test does to a system call: fails it with `error` unless that is 0, and lets it transfer at most `bytes`.
struct Fault {
  int error = 0;
  size_t bytes = SIZE_MAX;
};

/// With what error a test makes `call` fail now, for calls of the system that are made elsewhere; 0: it does not.
int injected_error(std::string_view call);

/// While this lives, every system call above first calls `hook` with its name ("open", "write", ...). For tests; one at
/// a time.
class FaultInjection {
 public:
  using Hook = std::function<Fault(std::string_view call)>;
  explicit FaultInjection(Hook hook);
  ~FaultInjection();
  FaultInjection(const FaultInjection&) = delete;
  FaultInjection& operator=(const FaultInjection&) = delete;

 private:
  Hook hook_;
};

}  // namespace headpond::internal
