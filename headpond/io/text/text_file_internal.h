// SPDX-License-Identifier: Apache-2.0
// The whole content of a text file: mapped if the file is plain, in memory if it is compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/growing_array.h"

namespace headpond::internal {

/// Gzip is recognised by its first bytes. A zlib stream is recognised by inflating it to its end, because two letters
/// can look like its start: content that does not inflate is text iff its first 256 bytes have no control characters
/// that texts do not have. Thread-safe.
class TextFile {
 public:
  /// Like MappedFile::open(); DataLoss iff a compressed file is truncated or damaged; ResourceExhausted iff it inflates
  /// to more than the limit, or there is no memory for it. Never more than the limit is allocated.
  static Result<TextFile> open(const std::string& path, uint64_t max_inflated_bytes);
  /// The same for `content`, which must outlive this object.
  static Result<TextFile> over(std::string name, std::span<const std::byte> content, uint64_t max_inflated_bytes);
  /// What `reader` reads, as it is, into memory: like a text that was inflated. Errors of the reader are passed on.
  static Result<TextFile> over(ByteReader& reader, uint64_t max_inflated_bytes);

  /// Valid as long as this object, or the one that it is moved to.
  std::string_view text() const { return text_; }
  /// OK iff all bytes read from a mapped file were the file's, else DataLoss. A few nanoseconds.
  Result<void> check() const { return file_ != nullptr && file_->lost() ? file_->check() : Result<void>(); }
  /// The same, and asks the system whether the file is still the one that was opened.
  Result<void> check_now() const { return file_ != nullptr ? file_->check() : Result<void>(); }
  /// So many bytes of the text are looked at, which are read if the file is mapped.
  void count(uint64_t bytes) const {
    if (file_ != nullptr) count_read(bytes);
  }
  /// How many offsets, 8 bytes each, an index may have: text and index together keep to the limit if the text was
  /// inflated.
  uint64_t max_offsets() const { return max_offsets_; }
  /// ResourceExhausted iff there are more.
  Result<void> check_index(uint64_t offsets) const { return offsets <= max_offsets_ ? Result<void>() : refuse_index(); }
  const std::string& name() const { return name_; }
  /// The mapping of a plain file, else null.
  const MappedFile* mapped() const { return file_.get(); }

 private:
  explicit TextFile(std::string name) : name_(std::move(name)) {}
  tl::unexpected<Error> refuse_index() const;
  Result<void> take(std::span<const std::byte> content, uint64_t max_inflated_bytes);
  void keep(GrowingArray<std::byte> inflated, uint64_t max_inflated_bytes);

  std::string name_;
  std::unique_ptr<MappedFile> file_;  // For a plain file.
  GrowingArray<std::byte> inflated_;  // For a compressed file.
  std::string_view text_;
  uint64_t max_offsets_ = UINT64_MAX;  // Most offsets of an index.
};

}  // namespace headpond::internal
