// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "headpond/io/named_error_internal.h"
#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/csv_columns_internal.h"
#include "headpond/io/text/csv_rows_internal.h"
#include "headpond/io/text/text_file_internal.h"

namespace headpond {
namespace {

using internal::CsvCell;
using internal::CsvFault;
using internal::quoted_name;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The line number of every 4096th row, so that errors need not count from the start of the file.
struct Mark {
  size_t offset;
  int64_t line;
};
constexpr int64_t kRowsAMark = 4096;

// Counts the lines that end before `end`; of "\r\n" the second byte ends the line.
int64_t lines_between(std::string_view text, size_t begin, size_t end) {
  const size_t last = text.empty() ? 0 : text.size() - 1;
  int64_t lines = 0;
  for (size_t at = begin; at < std::min(end, last); ++at) {
    const char byte = text[at], next = text[at + 1];
    lines += static_cast<int64_t>((byte == '\n') | ((byte == '\r') & (next != '\n')));  // Branch-free, for vector code.
  }
  const bool has_last = begin <= last && last < end;
  return lines + (has_last && (text[last] == '\n' || text[last] == '\r') ? 1 : 0);
}

const char* what_is(CsvFault fault) {
  return fault == CsvFault::open_quote ? "the quote that begins here is not closed"
                                       : "a delimiter or the row's end expected after a closing quote";
}

}  // namespace

class CsvFile::State {
 public:
  State(internal::TextFile text, const CsvOptions& options)
      : options_(options),
        text_(std::move(text)),
        scan_(options.delimiter, options.quote, options.comment),
        columns_(options) {}

  static Result<std::unique_ptr<CsvFile>> make(Result<internal::TextFile> text, const CsvOptions& options) {
    if (!text) return fail(std::move(text).error());
    auto state = std::make_unique<State>(std::move(*text), options);
    HEADPOND_TRY(state->index());
    return std::unique_ptr<CsvFile>(new CsvFile(std::move(state)));
  }

  Result<void> read(int64_t i, const internal::FieldTargets& targets) const;
  const Spec& fields() const { return columns_.fields(); }
  int64_t size() const { return static_cast<int64_t>(starts_.size()); }
  Result<void> check() const { return text_.check_now(); }
  const std::string& path() const { return text_.name(); }

 private:
  Result<void> index();
  Result<void> check_row(const internal::CsvRows& rows, int64_t row, size_t begin) const;
  Result<void> check_first_row(internal::CsvRows rows) const;
  Result<void> read_names(internal::CsvRows& rows);
  Result<void> index_row(internal::CsvRows& rows);
  Result<void> read_cells(int64_t i, const internal::FieldTargets& targets) const;
  // "a.csv, row 3 (line 5, offset 120)"; row -1 is the header.
  std::string place(int64_t row, size_t offset) const {
    const std::string shown = row < 0 ? "header" : fmt::format("row {}", row);
    return fmt::format("{}, {} (line {}, offset {})", path(), shown, line_of(row, offset), offset);
  }
  // The line, from 1, of the byte at `offset`, which is not before row `row`.
  int64_t line_of(int64_t row, size_t offset) const {
    const size_t before = row < 0 ? 0 : std::min(static_cast<size_t>(row / kRowsAMark) + 1, marks_.size());
    const Mark from = before == 0 ? Mark{0, 1} : marks_[before - 1];
    return from.line + lines_between(text_.text(), from.offset, offset);
  }
  tl::unexpected<Error> bad(int64_t row, size_t offset, const std::string& what) const {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}", place(row, offset), what));
  }

  const CsvOptions options_;
  const internal::TextFile text_;
  const internal::CsvRows scan_;  // Copied for each use.
  internal::CsvColumns columns_;  // Like starts_, constant after index().
  std::vector<uint64_t> starts_;
  std::vector<Mark> marks_;  // Of every kRowsAMark-th row.
};

// Called after the last cell of the row at `begin`.
Result<void> CsvFile::State::check_row(const internal::CsvRows& rows, int64_t row, size_t begin) const {
  if (rows.fault() != CsvFault::none) return bad(row, rows.offset(), what_is(rows.fault()));
  if (rows.offset() - begin <= options_.max_row_bytes) return {};
  return fail(ErrorKind::ResourceExhausted,
              fmt::format("{}: {} bytes in a row, at most {} (max_row_bytes)", place(row, begin), rows.offset() - begin,
                          options_.max_row_bytes));
}

// Checks the first row, of any length, before memory is allocated for it.
Result<void> CsvFile::State::check_first_row(internal::CsvRows rows) const {
  const int64_t row = options_.header ? -1 : 0;
  const bool any = rows.next_row();
  const size_t begin = rows.offset();
  if (!any) return options_.header ? bad(row, begin, "missing") : Result<void>();
  uint64_t columns = 0;
  for (CsvCell cell; rows.next_cell(cell);) ++columns;
  HEADPOND_TRY(check_row(rows, row, begin));
  if (columns <= options_.max_columns) return {};
  return fail(ErrorKind::ResourceExhausted, fmt::format("{}: {} columns, at most {} (max_columns)", place(row, begin),
                                                        columns, options_.max_columns));
}

// Reads the first row; without a header `rows` stays before it.
Result<void> CsvFile::State::read_names(internal::CsvRows& rows) {
  HEADPOND_TRY(check_first_row(rows));
  const internal::CsvRows before = rows;
  std::vector<std::string> names;
  const bool any = rows.next_row();
  const size_t begin = rows.offset();
  // If the file was rewritten, it may have more cells here.
  for (CsvCell cell; any && names.size() < options_.max_columns && rows.next_cell(cell);) {
    names.push_back(options_.header ? csv_text(cell, options_.quote) : std::to_string(names.size()));
  }
  const int64_t row = options_.header ? -1 : 0;
  if (any || options_.header) {
    if (auto chosen = columns_.choose(names); !chosen) return bad(row, begin, chosen.error().message());
  } else if (!options_.columns.empty()) {
    names.resize(options_.columns.size());
    HEADPOND_TRY(columns_.choose(names));
  }
  if (!options_.header) rows = before;
  return {};
}

Result<void> CsvFile::State::index_row(internal::CsvRows& rows) {
  const auto row = static_cast<int64_t>(starts_.size());
  const size_t begin = rows.offset();
  size_t cells = 0;
  for (CsvCell cell; rows.next_cell(cell); ++cells) {
    if (cells < columns_.cells()) columns_.see(cells, cell);
  }
  HEADPOND_TRY(check_row(rows, row, begin));
  if (cells != columns_.cells()) {
    return bad(row, begin, fmt::format("{} cells expected, {} found", columns_.cells(), cells));
  }
  HEADPOND_TRY(text_.check_index(starts_.size() + 1));
  if (row % kRowsAMark == 0) marks_.push_back({begin, line_of(row, begin)});
  starts_.push_back(begin);
  return {};
}

Result<void> CsvFile::State::index() try {
  internal::CsvRows rows = scan_;
  const bool has_bom = options_.skip_bom && text_.text().starts_with(kByteOrderMark);
  rows.begin(text_.text(), has_bom ? kByteOrderMark.size() : 0);
  Result<void> done = read_names(rows);
  while (done && rows.next_row()) done = index_row(rows);
  HEADPOND_TRY(text_.check_now());
  if (!done) return done;
  columns_.finish();
  starts_.shrink_to_fit();
  return {};
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(path()));
}

Result<void> CsvFile::State::read_cells(int64_t i, const internal::FieldTargets& targets) const {
  internal::CsvRows rows = scan_;
  const size_t begin = starts_[static_cast<size_t>(i)];
  rows.begin(text_.text(), begin);
  size_t cells = 0, offset = begin;
  CsvCell cell;
  // If the file was rewritten, it may have more cells here.
  for (bool any = rows.next_row(); any && cells < columns_.cells() && rows.next_cell(cell); ++cells) {
    if (const auto done = columns_.read(cells, cell, options_.quote, targets); !done) {
      return bad(i, offset,
                 fmt::format("column {}: {}", quoted_name(columns_.column_name(cells)), done.error().message()));
    }
    offset = rows.offset();
  }
  if (cells == columns_.cells()) return {};
  return fail(ErrorKind::DataLoss, fmt::format("{}: the file has changed", place(i, begin)));
}

Result<void> CsvFile::State::read(int64_t i, const internal::FieldTargets& targets) const try {
  if (i < 0 || i >= size()) {
    return fail(ErrorKind::OutOfRange, fmt::format("{}: no row {}: there are {}", path(), i, size()));
  }
  HEADPOND_TRY(targets.check(fields().size()));
  auto done = read_cells(i, targets);
  const auto next = static_cast<size_t>(i) + 1;
  const size_t end = next < starts_.size() ? starts_[next] : text_.text().size();
  const bool doubtful = text_.text()[end - 1] == '\0';  // After a cut, zeros were read.
  HEADPOND_TRY(doubtful ? text_.check_now() : text_.check());
  return done;
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(path()));
}

CsvFile::CsvFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CsvFile::~CsvFile() = default;

Result<std::unique_ptr<CsvFile>> CsvFile::open(const std::string& path, const CsvOptions& options) {
  const internal::CsvColumns refused_early(options);
  return State::make(internal::TextFile::open(path, options.max_inflated_bytes), options);
}

Result<std::unique_ptr<CsvFile>> CsvFile::over(std::string name, std::span<const std::byte> content,
                                               const CsvOptions& options) {
  const internal::CsvColumns refused_early(options);
  return State::make(internal::TextFile::over(std::move(name), content, options.max_inflated_bytes), options);
}

const Spec& CsvFile::fields() const { return state_->fields(); }
int64_t CsvFile::size() const { return state_->size(); }
Result<void> CsvFile::read(int64_t i, std::span<std::byte* const> targets, std::span<Tensor> out) const {
  return state_->read(i, {targets, out});
}
Result<void> CsvFile::check() const { return state_->check(); }
const std::string& CsvFile::path() const { return state_->path(); }

}  // namespace headpond
