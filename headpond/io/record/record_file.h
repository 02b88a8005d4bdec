// SPDX-License-Identifier: Apache-2.0
// The records of a plain TFRecord file by number, in any order and from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/record/index/record_index.h"

namespace headpond {

struct RecordFileOptions {
  /// In the cache folder; if that cannot be written, the index is made again next time.
  bool keep_index = true;
  /// Reads the records before a cut or a damaged length; lost_bytes() counts the rest.
  bool allow_damaged_end = false;
  /// If given, another number of records is DataLoss when opened.
  std::optional<uint64_t> expected_records = std::nullopt;
};

/// A mapped file and the index of its records. The index is read from the cache folder if it is there for this content
/// of the file, otherwise made in one pass over the lengths. Thread-safe. Records that are appended later are not seen.
class RecordFile {
 public:
  /// Like MappedFile::open(). Unimplemented iff the file is compressed: random access requires a plain file;
  /// RecordReader reads it in order. DataLoss, with offset and record, iff the end is damaged; also iff the cached
  /// index says that the file was longer with the same first 4 KiB, and it now is empty or ends exactly between two of
  /// its records. That message names the index file: remove it, or pass expected_records, if the cut was intended. Only
  /// indexes of undamaged files are cached; a cached one is not replaced when this fails or when it cannot be read.
  /// ResourceExhausted iff there is no memory for the index.
  ///
  /// `known`: index() of an earlier object, used if it belongs to the file's present content.
  static Result<std::unique_ptr<RecordFile>> open(const std::string& path, const RecordFileOptions& options = {},
                                                  std::shared_ptr<const RecordIndex> known = nullptr);
  static void open(internal::ListOfNames, const RecordFileOptions& = {}) = delete;
  /// For a file with the content that `known` belongs to: nothing is compared.
  static std::unique_ptr<RecordFile> of_known(std::unique_ptr<MappedFile> file,
                                              std::shared_ptr<const RecordIndex> known);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  uint64_t size() const;
  /// The payload of record i, verified by both checksums and by the position of the next record; valid as long as this
  /// object lives. OutOfRange iff i >= size(); DataLoss iff the record is damaged, or no whole record is at its place
  /// any more. In a file that is written over meanwhile it may be a new record of the same length: see check().
  Result<std::span<const std::byte>> at(uint64_t i) const;
  /// The four bytes of the checksum after a payload that at() returned. They become zeros once the file is cut before
  /// them, so a payload whose checksum is not zero was whole; an undamaged record has a checksum of zero with a chance
  /// of 1 in 2^32. For callers that cannot afford check() for every payload.
  static std::span<const std::byte> payload_crc(std::span<const std::byte> payload) {
    return {payload.data() + payload.size(), sizeof(uint32_t)};
  }
  /// OK iff all payloads returned so far were the file's content when they were read. A mapped file may shrink at any
  /// time, so call this after payloads were copied or parsed, and discard the results on error. Asks the system, 2 to 4
  /// microseconds: once per batch is enough.
  Result<void> check() const;
  /// Prefetches the first bytes of record i into the processor's cache. REQUIRES: i < size().
  void prefetch(uint64_t i) const;
  /// Asks the system to read these records ahead, neighbours with one request. Does not block. Numbers that do not
  /// exist are ignored.
  void will_need(std::span<const uint64_t> records) const;

  uint64_t lost_bytes() const;   ///< After the last record; 0 without allow_damaged_end.
  bool index_was_kept() const;   ///< True iff the index was read from the cache folder.
  const FileMark& mark() const;  ///< The file as it was indexed.
  /// May outlive this object.
  std::shared_ptr<const RecordIndex> index() const;
  const std::string& path() const;

 private:
  class State;
  explicit RecordFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
