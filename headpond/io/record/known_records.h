// SPDX-License-Identifier: Apache-2.0
// The records of a plain TFRecord file whose offsets are known and which, as the system says, has not changed since.
// Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/record/index/set_index.h"
#include "headpond/io/record/record_file.h"

namespace headpond::internal {

/// The file is mapped when a second record is asked for: to map and unmap a file costs more than to read a record.
/// Where the program keeps too many descriptors (io/file/kept_fd_internal.h) it is mapped at once. Thread-safe.
class KnownRecords {
 public:
  /// Null iff the file is not the one of `stamp` any more, or that is no proof, or nothing is `known`; then compare its
  /// content. Other errors as those of MappedFile::open().
  static Result<std::unique_ptr<KnownRecords>> open(const std::string& path, KnownOffsets known,
                                                    const FileStamp& stamp);
  ~KnownRecords();
  KnownRecords(const KnownRecords&) = delete;
  KnownRecords& operator=(const KnownRecords&) = delete;

  /// A payload in memory of its own.
  struct Payload {
    std::unique_ptr<std::byte[]> frame;
    std::span<const std::byte> bytes;
  };
  /// The first record that is asked for, verified as by RecordFile::at(). nullopt: ask file(); always so after the
  /// first call, and for what cannot be read, is damaged, or has more than 64 KiB.
  std::optional<Payload> read_first(uint64_t i) const;
  /// The file, mapped. DataLoss iff it has changed meanwhile; otherwise errors as those of MappedFile::open(), after
  /// which the next call tries again. It lives as long as this. Offsets that turn out to be damaged are made anew.
  Result<const RecordFile*> file() const;
  /// The file; null if it is not mapped yet.
  const RecordFile* mapped() const noexcept;
  uint64_t size() const;
  const FileMark& mark() const;
  /// Null if the offsets are damaged and the file is not mapped yet.
  std::shared_ptr<const RecordIndex> index() const;

 private:
  class State;
  explicit KnownRecords(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace headpond::internal
