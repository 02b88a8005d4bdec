// SPDX-License-Identifier: Apache-2.0
// A small file that one process locks while it writes others: it records what they are made of.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

/// The lock lasts until the object is destroyed or the process ends, in whatever way. On a file system without locks,
/// open() succeeds without one. Every call fails with FailedPrecondition once the path names another file or none. One
/// thread at a time.
class LockedFile {
 public:
  /// Opens the file, or creates an empty one, and locks it. FailedPrecondition iff another object has the lock, in this
  /// process or another; other errors as in io/file/file.h.
  static Result<LockedFile> open(const std::string& path);
  static void open(internal::ListOfNames) = delete;
  /// The same, but waits while another object has the lock. Cancelled iff `stop` is requested meanwhile.
  static Result<LockedFile> wait_for(const std::string& path, const std::stop_token& stop = {});
  LockedFile(LockedFile&& other) noexcept;
  LockedFile& operator=(LockedFile&& other) noexcept;
  ~LockedFile();

  /// The content; its last part may be incomplete if a write was interrupted.
  Result<std::string> text() const;
  /// Replaces the content with `text` and syncs the file and its folder to the disk.
  Result<void> replace(std::string_view text);
  /// Appends `text` and syncs the file to the disk.
  Result<void> append(std::string_view text);

 private:
  class State;
  static Result<std::optional<LockedFile>> try_open(const std::string& path);  // Nothing: another object has the lock.
  explicit LockedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
