// SPDX-License-Identifier: Apache-2.0
// A file's bytes in memory, read-only, brought in by the system as they are touched. No descriptor stays open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headpond/base/status.h"

namespace headpond {

/// A regular file, mapped as long as it was when opened. Thread-safe.
///
/// A file that shrinks meanwhile does not end the program (docs/decisions/0003): its bytes become zeros, and check()
/// says so. Who reads the bytes must ask afterwards, after whatever was computed from them, and drop it if the answer
/// is an error.
class MappedFile {
 public:
  /// NotFound, FailedPrecondition (a folder, a pipe, no permission) or what else the system says.
  static Result<std::unique_ptr<MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// As long as this object lives.
  std::span<const std::byte> bytes() const;
  const std::string& path() const;
  /// When the file was last changed, as of open(): nanoseconds since 1970.
  int64_t modified_ns() const;

  /// True iff any thread found a page missing before this call. A cut within the last page is not seen here: what is
  /// left of it becomes zeros without a sign, and only check() tells. A few nanoseconds.
  bool lost() const;
  /// DataLoss iff lost(), or the file is shorter now, or it was changed and its first 4 KiB are others. Asks the
  /// system by the file's name: of a file that has another name or none by now, only lost() can tell.
  Result<void> check() const;
  /// As check(), of `read` alone, a part of bytes() that has been read: DataLoss also for what became zeros. Asks the
  /// system only where `read` ends with a zero within the last page, so it takes a few nanoseconds elsewhere.
  Result<void> check_read(std::span<const std::byte> read) const;
  /// The same file as it is now iff it is longer than these bytes; nullptr if it is not. DataLoss as check().
  Result<std::unique_ptr<MappedFile>> grown() const;

  /// Asks the system to bring these bytes in; what is outside the file is ignored. Does not wait.
  void will_need(uint64_t offset, uint64_t length) const;

 private:
  class State;
  explicit MappedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
