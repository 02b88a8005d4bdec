// SPDX-License-Identifier: Apache-2.0
// The records of one plain TFRecord file by their numbers, in any order and by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/status.h"

namespace headpond {

struct RecordFileOptions {
  bool keep_index = true;          ///< In the cache folder; a folder that cannot be written is only a lost saving.
  bool allow_damaged_end = false;  ///< Takes the records before a cut or a damaged length; lost_bytes() tells the rest.
  std::optional<uint64_t> expected_records = std::nullopt;  ///< If given, another number is DataLoss when opened.
};

/// A mapped file and the index of its records, which is read from the cache folder if it is there and of this content
/// of the file, else made in one pass over the lengths. Thread-safe. What is appended later is not seen.
class RecordFile {
 public:
  /// As MappedFile::open(); Unimplemented iff the file is compressed: it has no places to go to, and RecordReader reads
  /// it in order. DataLoss, with the offset and the record, iff the end is damaged, or the index says that the file was
  /// longer with the same first 4 KiB, and it now is empty or ends exactly between two of its records; the index's name
  /// is in the text, for who meant that, and expected_records with the right number says it too. The index is kept of
  /// whole files only, and stays as it was when this fails or it cannot be read. ResourceExhausted iff there is no
  /// memory for the index.
  static Result<std::unique_ptr<RecordFile>> open(const std::string& path, const RecordFileOptions& options = {});
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  uint64_t size() const;
  /// The payload of record i, verified by both its checksums and by where the next record begins; as long as this
  /// object lives. OutOfRange iff i >= size(); DataLoss iff the record is damaged, or the file is not the one that was
  /// indexed: never another record.
  Result<std::span<const std::byte>> at(uint64_t i) const;
  /// The checksum behind a payload that at() gave: once the file was cut before it, and so maybe in the payload, zeros.
  /// Of a whole record zeros are one chance in 2^32. For who cannot ask check() as often as payloads are read.
  static std::span<const std::byte> behind(std::span<const std::byte> payload) {
    return {payload.data() + payload.size(), sizeof(uint32_t)};
  }
  /// Iff OK, all payloads given so far were the file's when they were read; to be asked after payloads were copied or
  /// parsed, because a mapped file may shrink at any time. Asks the system, 2 to 4 microseconds: once a batch is
  /// enough.
  Result<void> check() const;
  /// Brings the front of record i nearer to the processor. REQUIRES: i < size().
  void prefetch(uint64_t i) const;
  /// Asks the system to bring these records in; neighbours are asked for at once. Does not wait. A number that does not
  /// exist is ignored.
  void will_need(std::span<const uint64_t> records) const;

  uint64_t lost_bytes() const;  ///< Behind the last record; 0 but with allow_damaged_end.
  bool index_was_kept() const;  ///< True iff the index was read and not made.
  const std::string& path() const;

 private:
  class State;
  explicit RecordFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
