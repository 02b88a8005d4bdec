// SPDX-License-Identifier: Apache-2.0
// Splits CSV text into rows and cells (docs/formats/csv.md). Source: RFC 4180.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headpond::internal {

struct CsvCell {
  std::string_view text;     ///< Without the quotes of a quoted cell.
  bool is_quoted = false;    ///< It begins with a quote.
  bool has_doubled = false;  ///< Two quotes in `text` stand for one.
};

enum class CsvFault : uint8_t {
  none,
  open_quote,   ///< The text ends inside quotes.
  after_quote,  ///< A closing quote is not followed by a delimiter or the row's end.
};

/// Steps from cell to cell. Cheap to make; not thread-safe.
class CsvRows {
 public:
  /// `quote` and `comment`: 0 for none. REQUIRES: `delimiter`, `quote` and `comment` are different, none is '\r' or
  /// '\n'.
  CsvRows(char delimiter, char quote, char comment);

  /// Starts at `offset` of `text`, which must stay valid.
  void begin(std::string_view text, size_t offset) {
    text_ = text;
    at_ = offset;
    in_row_ = false;
    fault_ = CsvFault::none;
  }
  /// Goes to the next row that is neither empty nor a comment; false at the end. REQUIRES: all cells of the last row
  /// were read.
  bool next_row();
  /// The next cell of the row; false after the last one, or at a fault.
  bool next_cell(CsvCell& cell);

  size_t offset() const { return at_; }  ///< The next byte's; after a fault, of the opening quote or the wrong byte.
  CsvFault fault() const { return fault_; }

 private:
  enum Kind : uint8_t { kOther, kDelimiter, kRowEnd };
  bool next_quoted(CsvCell& cell);
  bool end_cell();
  void pass_row_end();
  bool fail(CsvFault fault, size_t at);

  std::array<Kind, 256> kinds_ = {};
  char quote_, comment_;
  std::string_view text_;
  size_t at_ = 0;
  bool in_row_ = false;  // Another cell follows, perhaps an empty one.
  CsvFault fault_ = CsvFault::none;
};

}  // namespace headpond::internal
