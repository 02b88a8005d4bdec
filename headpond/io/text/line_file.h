// SPDX-License-Identifier: Apache-2.0
// The lines of one text file by their numbers, in any order and by any thread: text_lines.h says what a line is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/text/text_lines.h"

namespace headpond {

struct LineFileOptions {
  int64_t skip_header_lines = 0;                    ///< The file's first lines that are not given, of any length.
  bool skip_bom = false;                            ///< Not to give the bytes ef bb bf where they begin the text.
  uint64_t max_line_bytes = uint64_t{1} << 30;      ///< A longer line, its end not counted, is an error.
  uint64_t max_inflated_bytes = uint64_t{1} << 30;  ///< Of a compressed file, all of which lies in memory, and of the
                                                    ///< index of its lines.
};

/// A plain file is mapped; one that is gzip or zlib, by its content, is inflated when opened. The index of lines is
/// made in one pass when opened and takes 8 bytes a line. Thread-safe. What is appended later is not seen.
class LineFile {
 public:
  /// As MappedFile::open(); DataLoss iff a compressed file is cut or damaged; ResourceExhausted iff it is beyond the
  /// limit or there is no memory. Throws Exception(InvalidArgument) for a negative number of header lines.
  static Result<std::unique_ptr<LineFile>> open(const std::string& path, const LineFileOptions& options = {});
  /// The same of `content`, which outlive the object; `name` is for error texts.
  static Result<std::unique_ptr<LineFile>> over(std::string name, std::span<const std::byte> content,
                                                const LineFileOptions& options = {});
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// Header lines are not counted.
  int64_t size() const;
  /// Line i, from 0, without its '\n' and one '\r' before that; as long as this object lives. OutOfRange iff there is
  /// none; ResourceExhausted, with file, line and offset, iff it is too long: the others can still be read.
  Result<std::string_view> at(int64_t i) const;
  /// Where line i begins in the (inflated) text, and how many lines, header lines too, are before it. REQUIRES: 0 <= i
  /// < size().
  TextPosition position(int64_t i) const;
  /// Iff OK, all lines given so far were the file's when they were read; to be asked after a line was copied or parsed,
  /// because a mapped file may shrink at any time. Asks the system: 2 to 4 microseconds.
  Result<void> check() const;
  const std::string& path() const;

 private:
  class State;
  explicit LineFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond
