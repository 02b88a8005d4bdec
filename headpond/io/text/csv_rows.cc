// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "headpond/io/text/csv_rows_internal.h"

namespace headpond::internal {

CsvRows::CsvRows(char delimiter, char quote, char comment) : quote_(quote), comment_(comment) {
  kinds_['\r'] = kinds_['\n'] = kRowEnd;
  kinds_[static_cast<unsigned char>(delimiter)] = kDelimiter;
}

void CsvRows::pass_row_end() {
  const bool is_pair = text_.substr(at_, 2) == "\r\n";
  at_ += is_pair ? 2 : 1;
}

bool CsvRows::fail(CsvFault fault, size_t at) {
  fault_ = fault;
  at_ = at;
  in_row_ = false;
  return false;
}

bool CsvRows::next_row() {
  while (at_ < text_.size()) {
    const char first = text_[at_];
    if (kinds_[static_cast<unsigned char>(first)] == kRowEnd) {
      pass_row_end();
      continue;
    }
    in_row_ = comment_ == 0 || first != comment_;
    if (in_row_) return true;
    at_ = text_.find_first_of("\r\n", at_);
    if (at_ == std::string_view::npos) at_ = text_.size();
  }
  return false;
}

// Handles the byte after a cell.
bool CsvRows::end_cell() {
  in_row_ = at_ < text_.size() && kinds_[static_cast<unsigned char>(text_[at_])] == kDelimiter;
  if (in_row_) {
    ++at_;
  } else if (at_ < text_.size()) {
    pass_row_end();
  }
  return true;
}

bool CsvRows::next_quoted(CsvCell& cell) {
  const size_t begin = at_ + 1;
  cell = {.text = {}, .is_quoted = true};
  for (size_t at = begin;; cell.has_doubled = true, at += 2) {
    at = at < text_.size() ? text_.find(quote_, at) : std::string_view::npos;
    if (at == std::string_view::npos) return fail(CsvFault::open_quote, begin - 1);
    if (at + 1 < text_.size() && text_[at + 1] == quote_) continue;
    cell.text = text_.substr(begin, at - begin);
    at_ = at + 1;
    if (at_ == text_.size() || kinds_[static_cast<unsigned char>(text_[at_])] != kOther) return end_cell();
    return fail(CsvFault::after_quote, at_);
  }
}

bool CsvRows::next_cell(CsvCell& cell) {
  if (!in_row_) return false;
  if (quote_ != 0 && at_ < text_.size() && text_[at_] == quote_) return next_quoted(cell);
  const size_t begin = at_;
  while (at_ < text_.size() && kinds_[static_cast<unsigned char>(text_[at_])] == kOther) ++at_;
  cell = {.text = text_.substr(begin, at_ - begin)};
  return end_cell();
}

}  // namespace headpond::internal
