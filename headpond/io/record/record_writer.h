// SPDX-License-Identifier: Apache-2.0
// Writes TFRecord files (docs/formats/tfrecord.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/compression/compression.h"

namespace headpond {

enum class WriteMode : uint8_t {
  in_place,  ///< Creates the file or empties it: for readers that follow the writer.
  /// Writes under another name in the folder until close(): readers see the old file or the whole new one. Symbolic
  /// links and modes are kept as by write_file_atomically().
  replace,
  append,  ///< After the existing records, once a torn tail is removed. Plain files only, no pipes.
};

struct RecordWriterOptions {
  WriteMode mode = WriteMode::replace;
  Compression compression = Compression::none;
  /// Compression level: 0 to 9. Equal records give equal bytes on every machine; compressed, with the same zlib.
  int level = 6;
};

/// Writes records to a file. Whole records are written to it at flush() and whenever 64 KiB have gathered, so a killed
/// program leaves whole records in a plain file. An error of the disk is sticky: the file may then end within a record,
/// and every later call returns the error, close() too. One thread at a time.
class RecordWriter {
 public:
  /// Mode in_place, not compressed. The folder must exist.
  static Result<std::unique_ptr<RecordWriter>> open(const std::string& path);
  /// Mode append first removes what a crash may have left at the end: a part of a frame or zeros, and a last record
  /// before them whose payload's checksum is wrong. DataLoss, with nothing changed, iff the records end at any other
  /// damage; FailedPrecondition, with nothing changed, iff another RecordWriter appends to the file, or somebody
  /// replaces or changes it meanwhile. Unimplemented for a compressed file or compression in this mode. InvalidArgument
  /// iff the compression or its level is unknown.
  static Result<std::unique_ptr<RecordWriter>> open(const std::string& path, const RecordWriterOptions& options);
  static void open(internal::ListOfNames) = delete;
  static void open(internal::ListOfNames, const RecordWriterOptions&) = delete;
  /// Calls close() if that was not called, and logs its error; a file in mode replace stays as it was.
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Appends a record, which may be empty. FailedPrecondition after close(). ResourceExhausted, with nothing appended,
  /// iff there is no memory to gather it.
  Result<void> append(std::span<const std::byte> payload);
  Result<void> append(std::string_view payload) { return append(std::as_bytes(std::span(payload))); }
  /// Writes all gathered bytes, so that other programs can read them. FailedPrecondition after close().
  Result<void> flush();
  /// Flushes, syncs the file and its name to the disk, closes it and, in mode replace, renames it. A second call
  /// returns the same result.
  Result<void> close();
  const std::string& path() const;
  uint64_t records() const;    ///< Appended by this object.
  uint64_t cut_bytes() const;  ///< Bytes of a torn tail that was removed when opened.

 private:
  class State;
  explicit RecordWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
