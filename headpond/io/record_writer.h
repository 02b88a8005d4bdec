// SPDX-License-Identifier: Apache-2.0
// TFRecord framing (docs/formats/tfrecord.md): records of any bytes, each with its length and two checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

/// Appends records to a new file. Whole records reach the file when it is flushed and whenever 64 KiB have gathered, so
/// a program that is killed leaves whole records. An error of the disk is sticky: what it left may end within a record,
/// and every later call returns it. One thread at a time.
class RecordWriter {
 public:
  /// Makes the file, or empties the one that is there. Its folder must exist.
  static Result<std::unique_ptr<RecordWriter>> open(const std::string& path);
  /// As close(); an error is logged.
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// One record; it may be empty. FailedPrecondition after close().
  Result<void> append(std::span<const std::byte> payload);
  Result<void> append(std::string_view payload) { return append(std::as_bytes(std::span(payload))); }
  /// Hands everything to the system: other programs can read it. FailedPrecondition after close().
  Result<void> flush();
  /// Flushes, hands everything to the disk, and closes. Closing twice is fine.
  Result<void> close();
  const std::string& path() const;

 private:
  class State;
  explicit RecordWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
