// SPDX-License-Identifier: Apache-2.0
// A read-only memory mapping of a file: the system reads pages when they are touched. No descriptor stays open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"

namespace headpond {

namespace internal {
class UniqueFd;
struct FileFacts;
}  // namespace internal

/// A regular file, mapped as long as it was when opened. Thread-safe. If another file gets its name, or it is removed,
/// the mapping keeps the bytes of the file that was opened.
///
/// A file that shrinks later does not end the program (docs/decisions/0003): its bytes become zeros. So after using the
/// bytes call check(), or a cheaper function below; on an error discard everything derived from them.
class MappedFile {
 public:
  /// NotFound, FailedPrecondition (a folder, a pipe, no permission) or another error of the system.
  static Result<std::unique_ptr<MappedFile>> open(const std::string& path);
  static void open(internal::ListOfNames) = delete;
  /// The same of a regular file that is open and was examined; `file` is not needed afterwards.
  static Result<std::unique_ptr<MappedFile>> of(const internal::UniqueFd& file, const internal::FileFacts& facts,
                                                const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Valid as long as this object lives.
  std::span<const std::byte> bytes() const;
  const std::string& path() const;
  /// The time of the last change as of open(), in nanoseconds since 1970; the nearest int64_t for years outside 1677 to
  /// 2262.
  int64_t modified_ns() const;
  /// The same of the last change of content or properties (ctime), which no program can set.
  int64_t changed_ns() const;

  /// True iff any thread found a page missing before this call. Does not notice a cut within the last page, whose rest
  /// becomes zeros; check() does. Takes a few nanoseconds.
  bool lost() const;
  /// DataLoss iff lost(), or the file is shorter than when opened, or it was modified and its first 4 KiB differ. Looks
  /// the file up by its name: once the name belongs to another file, or to none, only lost() counts. If only lost()
  /// tells of damage, the disk may have failed, and the error is transient, as EIO.
  Result<void> check() const;
  /// A check() for `read` alone, a part of bytes() that the caller has read; also DataLoss if its bytes became zeros.
  /// Asks the system only if `read` ends with a zero within the last page; otherwise it takes a few nanoseconds.
  Result<void> check_read(std::span<const std::byte> read) const;
  /// A new mapping iff the file is now longer than bytes(), else nullptr. DataLoss as check().
  Result<std::unique_ptr<MappedFile>> grown() const;

  /// Asks the system to read these bytes ahead; bytes outside the file are ignored. Does not block.
  void will_need(uint64_t offset, uint64_t length) const;

 private:
  class State;
  explicit MappedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
