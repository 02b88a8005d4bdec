// SPDX-License-Identifier: Apache-2.0
// The lines of a text file by number, in any order and from any thread. text_lines.h defines a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/record/index/record_index.h"
#include "headpond/io/text/text_lines.h"

namespace headpond {

struct LineFileOptions {
  /// The first lines of the file, which are not returned; of any length.
  int64_t skip_header_lines = 0;
  bool skip_bom = false;                        ///< Skips the bytes ef bb bf at the start of the text.
  uint64_t max_line_bytes = uint64_t{1} << 30;  ///< A longer line, not counting its end, is an error.
  /// Size of a compressed file, which is inflated into memory, and of the index of its lines, together.
  uint64_t max_inflated_bytes = uint64_t{1} << 30;
  /// The index of a plain file of at least 256 KiB, in the cache folder (docs/formats/record_index.md).
  bool keep_index = true;
};

/// A plain file is mapped; a gzip or zlib file, recognised by its content, is inflated when opened. The index of lines
/// is read from the cache folder if it is there for this content of the file, otherwise made in one pass when opened;
/// it takes 4 bytes per line, 8 from 4 GiB on. Thread-safe. Lines that are appended later are not seen.
class LineFile {
 public:
  /// Like MappedFile::open(); DataLoss iff a compressed file is truncated or damaged; ResourceExhausted iff it exceeds
  /// the limit or there is no memory. Throws Exception(InvalidArgument) for a negative number of header lines.
  ///
  /// `known`: index() of an earlier object with the same options, used if it belongs to the file's present content.
  static Result<std::unique_ptr<LineFile>> open(const std::string& path, const LineFileOptions& options = {},
                                                std::shared_ptr<const RecordIndex> known = nullptr);
  static void open(internal::ListOfNames, const LineFileOptions& = {}) = delete;
  /// The same for `content`, which must outlive the object; `name` is for error messages.
  static Result<std::unique_ptr<LineFile>> over(std::string name, std::span<const std::byte> content,
                                                const LineFileOptions& options = {});
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// The number of lines without header lines.
  int64_t size() const;
  /// Line i, from 0, without its '\n' and one '\r' before that; valid as long as this object lives. OutOfRange iff
  /// there is none; ResourceExhausted, with file, line and offset, iff it is too long: other lines can still be read;
  /// DataLoss iff what is in its place now is not one whole line, as the file was written anew since it was indexed; of
  /// a last line without a newline nobody can tell.
  Result<std::string_view> at(int64_t i) const;
  /// The start of line i in the (inflated) text, and the number of lines before it, header lines included. REQUIRES: 0
  /// <= i < size().
  TextPosition position(int64_t i) const;
  /// OK iff all lines returned so far were the file's content when they were read. A mapped file may shrink at any
  /// time, so call this after lines were copied or parsed, and discard the results on error. Asks the system: 2 to 4
  /// microseconds.
  Result<void> check() const;
  /// The same for `line` alone, which at() returned, and only for parts of it that could not be read at all: a file
  /// that was cut within the line's last page is not noticed. Reads the line; asks the system only if something is
  /// wrong.
  Result<void> check_read(std::string_view line) const;
  const std::string& path() const;
  /// May outlive this object.
  std::shared_ptr<const RecordIndex> index() const;
  /// The file as it was indexed; nullopt for a compressed one and for content in memory.
  std::optional<FileMark> mark() const;
  bool index_was_kept() const;  ///< True iff the index was read from the cache folder, or `known`.

 private:
  class State;
  explicit LineFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
