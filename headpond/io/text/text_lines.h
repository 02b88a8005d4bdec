// SPDX-License-Identifier: Apache-2.0
// The lines of a text, as the bytes that they are: no encoding is assumed and none is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond {

/// The begin of a line.
struct TextPosition {
  uint64_t offset = 0;  ///< In bytes from the text's begin.
  int64_t lines = 0;    ///< Before it.
  bool operator==(const TextPosition&) const = default;
};

struct TextLinesOptions {
  int64_t skip_header_lines = 0;  ///< The text's first lines that are not given, of any length.
  bool skip_bom = false;          ///< Not to give the bytes ef bb bf where they begin the text.
  /// A longer line, its end not counted, is an error. Room is twice the longest line and 64 KiB at most, and as much as
  /// half of that again while it grows; it follows the bytes read, never this number.
  uint64_t max_line_bytes = uint64_t{1} << 30;
  TextPosition start = {};  ///< Where the reader's first byte stands. At most 2^62, and no more lines than bytes.
};

struct TextLine {
  std::string_view text;  ///< Without its '\n' and one '\r' before that. Valid until the next call.
  int64_t number;         ///< From 1; header lines count.
  uint64_t offset;        ///< Of its first byte.
};

/// Gives the lines in order. A line ends with '\n' or with the text; a '\r' elsewhere and a NUL are bytes like any
/// other. A text without a byte has no lines. One thread at a time.
class TextLines {
 public:
  /// Throws Exception(InvalidArgument) for a negative number of header lines and a start that no text has.
  explicit TextLines(std::unique_ptr<ByteReader> reader, TextLinesOptions options = {});
  /// Of a regular file, from options.start on. InvalidArgument iff no text has such a start; DataLoss iff it is behind
  /// the file's end.
  static Result<TextLines> open(const std::string& path, const TextLinesOptions& options = {});
  TextLines(TextLines&& other) noexcept;
  TextLines& operator=(TextLines&& other) noexcept;
  ~TextLines();

  /// The next line; nothing at the end. ResourceExhausted, with file, line and offset, for a line that is too long: the
  /// next call gives the line behind it. After an error of the reader, the next call tries again.
  Result<std::optional<TextLine>> next();
  /// Where a reader may start that gives what follows: behind the line that was given last, or from a line that is too
  /// long until next() is behind it, that line's begin.
  TextPosition position() const;
  const std::string& name() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace headpond
