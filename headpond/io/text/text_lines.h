// SPDX-License-Identifier: Apache-2.0
// The lines of a text, as bytes: no encoding is assumed or checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond {

/// The start of a line.
struct TextPosition {
  uint64_t offset = 0;  ///< In bytes from the start of the text.
  int64_t lines = 0;    ///< Lines before it.
  bool operator==(const TextPosition&) const = default;
};

struct TextLinesOptions {
  int64_t skip_header_lines = 0;  ///< The first lines of the text, which are not returned; of any length.
  bool skip_bom = false;          ///< Skips the bytes ef bb bf at the start of the text.
  /// A longer line, not counting its end, is an error. Memory is at most twice the longest line plus 64 KiB, and half
  /// as much again while it grows; it follows the bytes read, not this limit.
  uint64_t max_line_bytes = uint64_t{1} << 30;
  TextPosition start = {};  ///< The position of the reader's first byte. At most 2^62, and no more lines than bytes.
};

struct TextLine {
  std::string_view text;  ///< Without its '\n' and one '\r' before that. Valid until the next call.
  int64_t number;         ///< From 1; header lines count.
  uint64_t offset;        ///< Where its first byte is.
};

/// Reads the lines in order. A line ends with '\n' or at the end of the text; other '\r', and NUL, are bytes like any
/// other. An empty text has no lines. One thread at a time.
class TextLines {
 public:
  /// Throws Exception(InvalidArgument) for a negative number of header lines and a start that no text has.
  explicit TextLines(std::unique_ptr<ByteReader> reader, TextLinesOptions options = {});
  /// Opens a regular file and starts at options.start. InvalidArgument iff no text can have such a start; DataLoss iff
  /// it is after the end of the file.
  static Result<TextLines> open(const std::string& path, const TextLinesOptions& options = {});
  static void open(internal::ListOfNames, const TextLinesOptions& = {}) = delete;
  TextLines(TextLines&& other) noexcept;
  TextLines& operator=(TextLines&& other) noexcept;
  ~TextLines();

  /// The next line; nullopt at the end. ResourceExhausted, with file, line and offset, for a line that is too long; the
  /// next call returns the line after it. After an error of the reader, the next call tries again.
  Result<std::optional<TextLine>> next();
  /// Where another reader must start to continue from here: after the line returned last, or at the start of a line
  /// that is too long until next() has skipped it.
  TextPosition position() const;
  const std::string& name() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace headpond
