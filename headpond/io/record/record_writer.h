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
#include "headpond/io/file/compression.h"

namespace headpond {

enum class WriteMode : uint8_t {
  in_place,  ///< Makes the file, or empties it: for readers that follow the writer.
  replace,   ///< Under another name in the same folder until close(): readers see the old file, or the whole new one.
  append,    ///< Behind the records that are there, after a torn tail was cut off. Plain files only, no pipes.
};

struct RecordWriterOptions {
  WriteMode mode = WriteMode::replace;
  Compression compression = Compression::none;
  int level = 6;  ///< Of the compression: 0 to 9. The same records give the same bytes on every machine; compressed,
                  ///< with the same zlib.
};

/// Writes records to a file. Whole records reach the file when it is flushed and whenever 64 KiB have gathered, so a
/// program that is killed leaves whole records of a plain file. An error of the disk is sticky: what it left may end
/// within a record, and every later call returns it, close() too. One thread at a time.
class RecordWriter {
 public:
  /// In place and not compressed. The folder must exist.
  static Result<std::unique_ptr<RecordWriter>> open(const std::string& path);
  /// Appending: cuts off what a crash may have left at the end, which is a part of a frame or zeros, and a last record
  /// before that whose payload does not fit its checksum. DataLoss, with nothing changed, iff records end at a damage
  /// that is none of these; FailedPrecondition, likewise, iff another RecordWriter appends to it, or anybody replaces
  /// or changes it meanwhile. Unimplemented iff it is or shall be compressed. InvalidArgument iff the compression or
  /// its level is unknown.
  static Result<std::unique_ptr<RecordWriter>> open(const std::string& path, const RecordWriterOptions& options);
  /// As close() if that was not called, and logs an error; but a file that was to be replaced stays as it was.
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// One record; it may be empty. FailedPrecondition after close(). ResourceExhausted, with nothing appended, iff there
  /// is no memory to gather it.
  Result<void> append(std::span<const std::byte> payload);
  Result<void> append(std::string_view payload) { return append(std::as_bytes(std::span(payload))); }
  /// Hands everything to the system: other programs can read it. FailedPrecondition after close().
  Result<void> flush();
  /// Flushes, hands everything to the disk, the name of a new file too, closes, and replaces the file if that is the
  /// mode. Closing again says the same again.
  Result<void> close();
  const std::string& path() const;
  uint64_t records() const;    ///< Appended by this object.
  uint64_t cut_bytes() const;  ///< Of a torn tail, when opened for appending.

 private:
  class State;
  explicit RecordWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
