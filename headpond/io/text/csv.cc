// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"
#include "headpond/io/text/csv_columns_internal.h"
#include "headpond/io/text/csv_rows_internal.h"
#include "headpond/io/text/text_file_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond {
namespace {

using internal::CsvCell;
using internal::CsvFault;
using internal::quoted_name;

// The line number of every 4096th row, so that errors need not count from the start of the file.
struct Mark {
  size_t offset;
  int64_t line;
};
constexpr int64_t kRowsAMark = 4096;
static_assert(sizeof(Mark) == 16 && std::is_trivially_copyable_v<Mark>);
constexpr uint64_t kLeastIndexed = uint64_t{64} << 10;  // Less is parsed sooner than an index is read.

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

// What decides which rows a file has and of which types its columns are, and which files are refused.
std::string reader_of(const CsvOptions& options) {
  std::string reader = fmt::format("csv, delimiter {:d}, quote {:d}, comment {:d}, header {}, bom {}, limits {} {}",
                                   options.delimiter, options.quote, options.comment, options.header, options.skip_bom,
                                   options.max_row_bytes, options.max_columns);
  for (const CsvColumn& column : options.columns) {
    reader += fmt::format(", column {:?} {}", column.name, column.dtype ? name(*column.dtype) : "found");
  }
  for (const std::string& value : options.na_values) reader += fmt::format(", missing {:?}", value);
  return reader;
}

}  // namespace

class CsvFile::State {
 public:
  State(internal::TextFile text, const CsvOptions& options)
      : options_(options),
        text_(std::move(text)),
        scan_(options.delimiter, options.quote, options.comment),
        columns_(options) {}

  static Result<std::unique_ptr<CsvFile>> make(Result<internal::TextFile> text, const CsvOptions& options,
                                               std::shared_ptr<const RecordIndex> known = nullptr) {
    if (!text) return fail(std::move(text).error());
    auto state = std::make_unique<State>(std::move(*text), options);
    HEADPOND_TRY(state->find_rows(std::move(known)));
    return std::unique_ptr<CsvFile>(new CsvFile(std::move(state)));
  }

  // Null: the file is not to be read in chunks.
  static Result<std::unique_ptr<CsvFile>> make_chunked(const std::string& path, const CsvOptions& options);

  Result<void> read(int64_t i, const internal::FieldTargets& targets, bool may_keep) const;
  const Spec& fields() const { return columns_.fields(); }
  int64_t size() const { return rows_; }
  Result<uint64_t> offset_of(int64_t i) const {
    return chunks_ != nullptr ? chunks_->offset_of(i) : index_->offset(static_cast<uint64_t>(i));
  }
  Result<void> check() const { return text_.check_now(); }
  const std::string& path() const { return text_.name(); }
  const std::shared_ptr<const RecordIndex>& index() const { return index_; }
  bool was_cached() const { return was_cached_; }
  std::optional<FileMark> mark() const {
    if (chunks_ != nullptr) return chunks_->mark();
    return text_.mapped() != nullptr ? std::optional(index_->mark()) : std::nullopt;
  }

 private:
  internal::ChunkFormat chunk_format();
  std::optional<size_t> end_of_header(std::string_view text, bool is_end) const;
  std::optional<internal::ChunkFormat::Found> next_row(std::string_view text, bool is_end) const;
  bool see_header(std::string_view text);
  bool see_row(std::string_view text);
  bool choose_numbered(size_t columns);
  Result<void> read_inflated(int64_t i, const internal::FieldTargets& targets, bool may_keep) const;
  Result<void> find_rows(std::shared_ptr<const RecordIndex> known);
  Result<void> make_index(internal::CsvRows rows, RecordIndex index);
  bool adopt(std::shared_ptr<const RecordIndex> cached);
  std::vector<std::byte> extra() const;
  Result<void> check_row(const internal::CsvRows& rows, int64_t row, size_t begin) const;
  Result<void> check_first_row(internal::CsvRows rows) const;
  Result<void> read_names(internal::CsvRows& rows);
  Result<void> index_row(internal::CsvRows& rows, RecordIndex& index);
  Result<void> read_cells(int64_t i, const internal::FieldTargets& targets) const;
  bool begins_line(uint64_t begin) const {
    const std::string_view text = text_.text();
    return begin == first_ || (begin > first_ && (text[begin - 1] == '\n' || text[begin - 1] == '\r'));
  }
  bool is_row(uint64_t begin, uint64_t end, internal::CsvRows& rows) const;
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
  // Of the row (-1: the header) that begins at `begin`; `message` has where in it the fault is.
  tl::unexpected<Error> error_of_row(ErrorKind kind, int64_t row, uint64_t begin, std::string message) const {
    ErrorPlace at{.source = path(), .offset = begin};
    if (row >= 0) at.record = static_cast<uint64_t>(row);
    return fail(Error(kind, std::move(message)).at(std::move(at)));
  }
  tl::unexpected<Error> bad(int64_t row, size_t begin, size_t offset, const std::string& what) const {
    return error_of_row(ErrorKind::InvalidArgument, row, begin, fmt::format("{}: {}", place(row, offset), what));
  }

  const CsvOptions options_;
  const internal::TextFile text_;
  const internal::CsvRows scan_;  // Copied for each use.
  // Constant after find_rows():
  internal::CsvColumns columns_;
  std::shared_ptr<const RecordIndex> index_;
  int64_t rows_ = 0;
  std::vector<CsvCell> cells_;  // Memory of see_row(), used again.
  bool was_cached_ = false;
  size_t first_ = 0;         // Where the text after the header begins.
  std::vector<Mark> marks_;  // Marks of every kRowsAMark-th row.
  // For a large gzip file; then text_ is empty and there is no index_.
  std::shared_ptr<internal::GzipChunks> chunks_;
};

// Called after the last cell of the row at `begin`.
Result<void> CsvFile::State::check_row(const internal::CsvRows& rows, int64_t row, size_t begin) const {
  if (rows.fault() != CsvFault::none) return bad(row, begin, rows.offset(), what_is(rows.fault()));
  if (rows.offset() - begin <= options_.max_row_bytes) return {};
  return error_of_row(ErrorKind::ResourceExhausted, row, begin,
                      fmt::format("{}: {} bytes in a row, at most {} (max_row_bytes)", place(row, begin),
                                  rows.offset() - begin, options_.max_row_bytes));
}

// Checks the first row, of any length, before memory is allocated for it.
Result<void> CsvFile::State::check_first_row(internal::CsvRows rows) const {
  const int64_t row = options_.header ? -1 : 0;
  const bool any = rows.next_row();
  const size_t begin = rows.offset();
  if (!any) return options_.header ? bad(row, begin, begin, "missing") : Result<void>();
  uint64_t columns = 0;
  for (CsvCell cell; rows.next_cell(cell);) ++columns;
  HEADPOND_TRY(check_row(rows, row, begin));
  if (columns <= options_.max_columns) return {};
  return error_of_row(
      ErrorKind::ResourceExhausted, row, begin,
      fmt::format("{}: {} columns, at most {} (max_columns)", place(row, begin), columns, options_.max_columns));
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
    if (auto chosen = columns_.choose(names); !chosen) return bad(row, begin, begin, chosen.error().message());
  } else if (!options_.columns.empty()) {
    names.resize(options_.columns.size());
    HEADPOND_TRY(columns_.choose(names));
  }
  if (!options_.header) rows = before;
  return {};
}

Result<void> CsvFile::State::index_row(internal::CsvRows& rows, RecordIndex& index) {
  const size_t begin = rows.offset();
  size_t cells = 0;
  for (CsvCell cell; rows.next_cell(cell); ++cells) {
    if (cells < columns_.cells()) columns_.see(cells, cell);
  }
  HEADPOND_TRY(check_row(rows, rows_, begin));
  if (cells != columns_.cells()) {
    return bad(rows_, begin, begin, fmt::format("{} cells expected, {} found", columns_.cells(), cells));
  }
  HEADPOND_TRY(text_.check_index(static_cast<uint64_t>(rows_) + 1));
  if (rows_ % kRowsAMark == 0) marks_.push_back({begin, line_of(rows_, begin)});
  index.add(begin, std::max(text_.max_offsets(), text_.max_offsets() + 1));
  ++rows_;
  return {};
}

Result<void> CsvFile::State::find_rows(std::shared_ptr<const RecordIndex> known) try {
  internal::CsvRows rows = scan_;
  const bool has_bom = options_.skip_bom && text_.text().starts_with(internal::kByteOrderMark);
  rows.begin(text_.text(), has_bom ? internal::kByteOrderMark.size() : 0);
  if (auto named = read_names(rows); !named) {
    HEADPOND_TRY(text_.check_now());
    return named;
  }
  first_ = rows.offset();
  if (text_.mapped() == nullptr) return make_index(rows, RecordIndex(FileMark{.size = text_.text().size()}));
  const bool is_cached = options_.keep_index && text_.text().size() >= kLeastIndexed;
  const internal::CachedIndex cached(*text_.mapped(), reader_of(options_), is_cached);
  if (adopt(cached.find(std::move(known)))) return text_.check_now();
  HEADPOND_TRY(make_index(rows, cached.begin()));
  cached.keep(*index_);
  return {};
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(path()));
}

Result<void> CsvFile::State::make_index(internal::CsvRows rows, RecordIndex index) {
  Result<void> done;
  while (done && rows.next_row()) done = index_row(rows, index);
  HEADPOND_TRY(text_.check_now());
  if (!done) return done;
  columns_.finish();
  index.add(text_.text().size());
  index.shrink_to_fit();
  index.set_extra(extra());
  index_ = std::make_shared<const RecordIndex>(std::move(index));
  return {};
}

// The types that were found, and the marks.
std::vector<std::byte> CsvFile::State::extra() const {
  std::vector<std::byte> all = columns_.found_types();
  const auto marks = std::as_bytes(std::span(marks_));
  all.insert(all.end(), marks.begin(), marks.end());
  return all;
}

// False iff it is none, or does not fit.
bool CsvFile::State::adopt(std::shared_ptr<const RecordIndex> cached) {
  if (cached == nullptr || cached->offset(0) < first_ || cached->offset(cached->size()) != text_.text().size())
    return false;
  const size_t marks = (cached->size() + kRowsAMark - 1) / kRowsAMark, marks_bytes = marks * sizeof(Mark);
  if (cached->extra().size() < marks_bytes) return false;
  if (!columns_.finish_as(cached->extra().first(cached->extra().size() - marks_bytes))) return false;
  marks_.resize(marks);
  if (marks > 0) std::memcpy(marks_.data(), cached->extra().last(marks_bytes).data(), marks_bytes);
  rows_ = static_cast<int64_t>(cached->size());
  index_ = std::move(cached);
  was_cached_ = true;
  return true;
}

// Whether the index says of a row what the text says: that it begins a line and the next one follows it. The file may
// be written anew while it is read, and a cached index may be of other rows. `rows` has read as many cells as there are
// columns.
bool CsvFile::State::is_row(uint64_t begin, uint64_t end, internal::CsvRows& rows) const {
  CsvCell more;
  if (!begins_line(begin) || rows.next_cell(more) || rows.fault() != CsvFault::none || rows.offset() > end)
    return false;
  return rows.next_row() ? rows.offset() == end : end == text_.text().size();
}

Result<void> CsvFile::State::read_cells(int64_t i, const internal::FieldTargets& targets) const {
  internal::CsvRows rows = scan_;
  const auto k = static_cast<uint64_t>(i);
  const size_t begin = std::min<uint64_t>(index_->offset(k), text_.text().size());
  rows.begin(text_.text(), begin);
  size_t cells = 0, offset = begin;
  CsvCell cell;
  const bool any = begins_line(begin) && rows.next_row() && rows.offset() == begin;
  // If the file was rewritten, it may have more cells here.
  for (; any && cells < columns_.cells() && rows.next_cell(cell); ++cells) {
    if (const auto done = columns_.read(cells, cell, options_.quote, targets); !done) {
      return bad(i, begin, offset,
                 fmt::format("column {}: {}", quoted_name(columns_.column_name(cells)), done.error().message()));
    }
    offset = rows.offset();
  }
  if (cells == columns_.cells() && is_row(begin, index_->offset(k + 1), rows)) return {};
  return error_of_row(ErrorKind::DataLoss, i, begin, fmt::format("{}: the file has changed", place(i, begin)));
}

Result<std::unique_ptr<CsvFile>> CsvFile::State::make_chunked(const std::string& path, const CsvOptions& options) try {
  auto none = internal::TextFile::over(path, {}, 0);
  if (!none) return fail(std::move(none).error());
  auto state = std::make_unique<State>(std::move(*none), options);
  auto chunks =
      internal::GzipChunks::open(path, state->chunk_format(),
                                 {.max_inflated_bytes = options.max_inflated_bytes, .keep_index = options.keep_index});
  if (!chunks) return fail(std::move(chunks).error());
  if (*chunks == nullptr) return nullptr;
  state->chunks_ = std::move(*chunks);
  state->rows_ = state->chunks_->size();
  state->was_cached_ = state->chunks_->was_cached();
  if (state->was_cached_) {
    const auto& types = state->chunks_->extra();
    const bool is_named =
        options.header ? state->see_header(state->chunks_->header()) : state->choose_numbered(types.size() / 2);
    if (!is_named || !state->columns_.finish_as(types)) return nullptr;
  } else {
    if (state->rows_ == 0) return nullptr;  // This is as rare as it is small.
    state->columns_.finish();
    state->chunks_->keep(state->columns_.found_types());
  }
  return std::unique_ptr<CsvFile>(new CsvFile(std::move(state)));
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(path));
}

internal::ChunkFormat CsvFile::State::chunk_format() {
  internal::ChunkFormat format;
  format.reader = "gzip " + reader_of(options_);
  format.header = [this](std::string_view text, bool is_end) { return end_of_header(text, is_end); };
  format.next = [this](std::string_view text, bool is_end) { return next_row(text, is_end); };
  format.visit = [this](std::string_view text, bool is_header) { return is_header ? see_header(text) : see_row(text); };
  format.lines = [](std::string_view text) { return lines_between(text, 0, text.size()); };
  return format;
}

std::optional<size_t> CsvFile::State::end_of_header(std::string_view text, bool is_end) const {
  if (options_.skip_bom && text.size() < internal::kByteOrderMark.size() && !is_end) return std::nullopt;
  const size_t begin =
      options_.skip_bom && text.starts_with(internal::kByteOrderMark) ? internal::kByteOrderMark.size() : 0;
  if (!options_.header) return begin;
  if (begin == text.size()) return std::nullopt;
  const auto found = next_row(text.substr(begin), is_end);
  return found && found->is_record ? std::optional(begin + found->end) : std::nullopt;
}

std::optional<internal::ChunkFormat::Found> CsvFile::State::next_row(std::string_view text, bool is_end) const {
  using Found = internal::ChunkFormat::Found;
  internal::CsvRows rows = scan_;
  rows.begin(text, 0);
  if (!rows.next_row()) return is_end ? std::optional(Found{text.size(), text.size(), false}) : std::nullopt;
  const size_t begin = rows.offset();
  for (CsvCell cell; rows.next_cell(cell);) continue;
  const bool is_whole = rows.fault() == CsvFault::none && (is_end || rows.offset() < text.size());
  return is_whole ? std::optional(Found{begin, rows.offset()}) : std::nullopt;
}

// False iff the file is refused: the other reader tells why.
bool CsvFile::State::see_header(std::string_view text) {
  if (!options_.header) return true;
  internal::CsvRows rows = scan_;
  rows.begin(text,
             options_.skip_bom && text.starts_with(internal::kByteOrderMark) ? internal::kByteOrderMark.size() : 0);
  if (!rows.next_row() || text.size() - rows.offset() > options_.max_row_bytes) return false;
  std::vector<std::string> names;
  for (CsvCell cell; rows.next_cell(cell);) {
    if (names.size() == options_.max_columns) return false;
    names.push_back(csv_text(cell, options_.quote));
  }
  return columns_.choose(names).has_value();
}

// The columns of a file without a header.
bool CsvFile::State::choose_numbered(size_t columns) {
  std::vector<std::string> names;
  for (size_t column = 0; column < columns; ++column) names.push_back(std::to_string(column));
  return columns_.choose(names).has_value();
}

bool CsvFile::State::see_row(std::string_view text) {
  if (text.size() > options_.max_row_bytes) return false;
  internal::CsvRows rows = scan_;
  rows.begin(text, 0);
  if (!rows.next_row()) return false;
  std::vector<CsvCell>& cells = cells_;
  cells.clear();
  for (CsvCell cell; rows.next_cell(cell);) cells.push_back(cell);
  if (rows_ == 0 && !options_.header) {
    if (cells.size() > options_.max_columns || !choose_numbered(cells.size())) return false;
  }
  if (cells.size() != columns_.cells()) return false;
  for (size_t cell = 0; cell < cells.size(); ++cell) columns_.see(cell, cells[cell]);
  ++rows_;
  return true;
}

Result<void> CsvFile::State::read_inflated(int64_t i, const internal::FieldTargets& targets, bool may_keep) const {
  const auto found = chunks_->chunk_of(i, may_keep);
  if (!found) return fail(found.error());
  const internal::InflatedChunk& chunk = **found;
  const std::string_view record = chunk.record(i);
  const auto begin = static_cast<size_t>(record.data() - chunk.text.data());
  const auto place = [&](size_t at) {
    return fmt::format("{}, row {} (line {}, offset {})", path(), i,
                       chunk.lines + 1 + lines_between(chunk.text, 0, begin + at), chunk.offset + begin + at);
  };
  internal::CsvRows rows = scan_;
  rows.begin(record, 0);
  size_t cells = 0, offset = 0;
  CsvCell cell;
  for (bool any = rows.next_row(); any && cells < columns_.cells() && rows.next_cell(cell); ++cells) {
    if (const auto done = columns_.read(cells, cell, options_.quote, targets); !done) {
      return error_of_row(ErrorKind::InvalidArgument, i, chunk.offset_of(i),
                          fmt::format("{}: column {}: {}", place(offset), quoted_name(columns_.column_name(cells)),
                                      done.error().message()));
    }
    offset = rows.offset();
  }
  if (cells == columns_.cells()) return {};
  return error_of_row(ErrorKind::DataLoss, i, chunk.offset_of(i), fmt::format("{}: the file has changed", place(0)));
}

Result<void> CsvFile::State::read(int64_t i, const internal::FieldTargets& targets, bool may_keep) const try {
  if (i < 0 || i >= size()) {
    return fail(ErrorKind::OutOfRange, fmt::format("{}: no row {}: there are {}", path(), i, size()));
  }
  HEADPOND_TRY(targets.check(fields().size()));
  if (chunks_ != nullptr) return read_inflated(i, targets, may_keep);
  auto done = read_cells(i, targets);
  const size_t end = std::min<uint64_t>(index_->offset(static_cast<uint64_t>(i) + 1), text_.text().size());
  const size_t begin = std::min<uint64_t>(index_->offset(static_cast<uint64_t>(i)), end);
  text_.count(end - begin);
  const bool doubtful = end == 0 || text_.text()[end - 1] == '\0';  // After a cut, zeros were read.
  HEADPOND_TRY(doubtful ? text_.check_now() : text_.check());
  return done;
} catch (const std::bad_alloc&) {
  return fail(internal::exception_error_of(path()));
}

std::string describe(const CsvOptions& options) {
  std::string text = fmt::format("delimiter={:?}, quote={:d}, comment={:d}, header={}", options.delimiter,
                                 options.quote, options.comment, options.header) +
                     (options.skip_bom ? "" : ", skip_bom=false");
  for (const std::string& value : options.na_values) text += fmt::format(", na='{}'", value);
  for (const CsvColumn& column : options.columns) {
    if (!column.default_value) continue;
    const Tensor& value = *column.default_value;
    text += fmt::format(", {} default={:08x}", column.name, crc32c({value.data(), value.byte_size()}));
  }
  return text;
}

std::optional<Spec> internal::fields_said_by(const CsvOptions& options) {
  if (options.columns.empty()) return std::nullopt;
  Spec fields;
  for (const CsvColumn& column : options.columns) {
    if (!column.dtype) return std::nullopt;
    fields.push_back({column.name, *column.dtype, {}});
  }
  (void)CsvFile::over("", std::span<const std::byte>(), options);
  return fields;
}

CsvFile::CsvFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CsvFile::~CsvFile() = default;

Result<std::unique_ptr<CsvFile>> CsvFile::open(const std::string& path, const CsvOptions& options,
                                               std::shared_ptr<const RecordIndex> known) {
  const internal::CsvColumns refused_early(options);
  if (internal::is_chunked(path)) {
    auto chunked = State::make_chunked(path, options);
    if (!chunked || *chunked != nullptr) return chunked;
  }
  return State::make(internal::TextFile::open(path, options.max_inflated_bytes), options, std::move(known));
}

Result<std::unique_ptr<CsvFile>> CsvFile::over(std::string name, std::span<const std::byte> content,
                                               const CsvOptions& options) {
  const internal::CsvColumns refused_early(options);
  return State::make(internal::TextFile::over(std::move(name), content, options.max_inflated_bytes), options);
}

Result<std::unique_ptr<CsvFile>> CsvFile::over(ByteReader& content, const CsvOptions& options) {
  const internal::CsvColumns refused_early(options);
  return State::make(internal::TextFile::over(content, options.max_inflated_bytes), options);
}

const Spec& CsvFile::fields() const { return state_->fields(); }
int64_t CsvFile::size() const { return state_->size(); }
Result<void> CsvFile::read(int64_t i, std::span<std::byte* const> targets, std::span<Tensor> out, bool may_keep) const {
  return state_->read(i, {targets, out}, may_keep);
}
Result<uint64_t> CsvFile::offset_of(int64_t i) const { return state_->offset_of(i); }
std::optional<FileMark> CsvFile::mark() const { return state_->mark(); }
Result<void> CsvFile::check() const { return state_->check(); }
const std::string& CsvFile::path() const { return state_->path(); }
std::shared_ptr<const RecordIndex> CsvFile::index() const { return state_->index(); }
bool CsvFile::index_was_kept() const { return state_->was_cached(); }

}  // namespace headpond
