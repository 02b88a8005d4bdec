// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/convert/convert_samples.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/text/csv.h"

namespace headpond::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

// A column of all files, as far as they were looked at.
struct Column {
  std::string name;
  DType dtype;                            // What CsvFile says; f32 too where one file has i64 and another f32.
  bool differs = false;                   // Between files, in numbers.
  bool any = false;                       // Not all cells are blank.
  bool integers = true;                   // All cells are integers, or blank.
  bool wide = false;                      // One is an integer that f32 does not hold.
  bool is_code = false;                   // One is 007 or +49: a number would not be what stands there.
  std::string f64_in = {}, wide_in = {};  // The first file that is f64 by itself, and the first that is wide; "": none.
};

DType type_of(const Column& column) {
  if (column.name == kKeyField || column.dtype == bytes || column.is_code || !column.any) return bytes;
  if (column.integers) return i64;
  return column.differs && column.wide ? f64 : column.dtype;
}

struct Table {
  std::vector<std::string> paths;
  std::vector<Column> columns = {};
  std::vector<int64_t> ends = {};      // For each file the number of rows up to its end.
  std::vector<bool> is_given = {};     // For each cell, row by row: quoted, or not empty.
  std::vector<bool> is_filled = {};    // For each cell: not blank.
  std::vector<std::string> keys = {};  // Keys of all rows, if there is such a column.
  std::vector<bool> are_texts = {};    // For each column.

  bool has(int64_t row, size_t column) const {
    const size_t cell = static_cast<size_t>(row) * columns.size() + column;
    return are_texts[column] ? is_given[cell] : is_filled[cell];
  }
  // "a.csv, row 3", of the row's number in all files.
  std::string place(int64_t row) const {
    const auto file = std::upper_bound(ends.begin(), ends.end(), row) - ends.begin();
    return fmt::format("{}, row {}", paths[static_cast<size_t>(file)],
                       row - (file == 0 ? 0 : ends[static_cast<size_t>(file - 1)]));
  }
};

// Paths of files that have a header, for all that can be seen.
std::vector<std::string> files_with_content(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (!value_or_throw(MappedFile::open(path))->bytes().empty()) found.push_back(path);
  }
  if (found.empty() && !paths.empty()) {
    refuse(
        fmt::format("{}: the file is empty{}; a header is expected", paths[0], paths.size() > 1 ? ", as all are" : ""));
  }
  return found;
}

// What CsvFile says of a column over all files that have rows.
std::vector<Column> joined_columns(const std::vector<std::string>& paths) {
  std::vector<Column> columns;
  bool any_rows = false;
  for (const std::string& path : paths) {
    const auto file = value_or_throw(CsvFile::open(path));
    const Spec& found = file->fields();
    if (columns.empty()) {
      for (const FieldSpec& field : found) columns.push_back({field.name, field.dtype});
    }
    bool same = found.size() == columns.size();
    for (size_t c = 0; same && c < found.size(); ++c) {
      Column& column = columns[c];
      same = found[c].name == column.name;
      const DType dtype = found[c].dtype;
      if (file->size() > 0 && dtype == f64 && column.f64_in.empty()) column.f64_in = path;
      if (file->size() == 0 || (any_rows && dtype == column.dtype)) continue;  // Without rows its cells say nothing.
      const bool is_text = any_rows && (dtype == bytes || column.dtype == bytes);
      column.differs = any_rows;
      column.dtype = is_text ? bytes : !any_rows ? dtype : dtype == f64 || column.dtype == f64 ? f64 : f32;
    }
    any_rows = any_rows || file->size() > 0;
    if (!same) refuse(path + " has other columns than " + paths[0]);
  }
  return columns;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `text`: of a cell that is not blank, without spaces around it.
void look_at_cell(std::string_view text, const std::string& path, Column& column) {
  constexpr int64_t kExact = int64_t{1} << 24;
  column.any = true;
  const std::string_view digits = text.substr(text[0] == '-' ? 1 : 0);
  column.is_code |= text[0] == '+' || (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]));
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_integer = read.ec == std::errc() && read.ptr == text.data() + text.size();
  column.integers &= is_integer;
  if (!is_integer || (value <= kExact && value >= -kExact)) return;
  if (!std::exchange(column.wide, true)) column.wide_in = path;
}

void look_at_cells(const std::vector<Tensor>& cells, const char* missing, const std::string& path, Table& table) {
  for (size_t c = 0; c < cells.size(); ++c) {
    const std::string_view text = cells[c].bytes_at(0);
    const bool is_given = text.data() != missing;
    const size_t begin = is_given ? text.find_first_not_of(" \t") : std::string_view::npos;
    const bool is_filled = begin != std::string_view::npos;
    table.is_given.push_back(is_given);
    table.is_filled.push_back(is_filled);
    if (is_filled) look_at_cell(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin), path, table.columns[c]);
    if (table.columns[c].name == kKeyField) table.keys.emplace_back(is_given ? text : std::string_view());
  }
}

// All cells as texts.
void look_at_rows(const std::string& path, Table& table) {
  const Tensor missing = Tensor::scalar(std::string_view("missing"));  // Its copies are known by their place in memory.
  std::vector<CsvColumn> asked;
  asked.reserve(table.columns.size());
  for (const Column& column : table.columns) asked.push_back({column.name, bytes, missing});
  const auto file = value_or_throw(CsvFile::open(path, {.columns = asked}));
  std::vector<Tensor> cells(asked.size());
  for (int64_t i = 0; i < file->size(); ++i) {
    if (const auto read = file->read(i, {}, cells); !read) throw Exception(read.error());
    look_at_cells(cells, missing.bytes_at(0).data(), path, table);
  }
  table.ends.push_back((table.ends.empty() ? 0 : table.ends.back()) + file->size());
}

std::vector<CsvColumn> typed_columns(Table& table, bool for_examples) {
  std::vector<CsvColumn> typed;
  for (const Column& column : table.columns) {
    DType dtype = type_of(column);
    if (dtype == f32 && !for_examples) dtype = f64;  // Texts need not be rounded.
    if (dtype == f64 && for_examples) {
      refuse(
          fmt::format("{}, column '{}': it has numbers that an Example's 32-bit floats cannot hold; --to tar "
                      "keeps them",
                      column.f64_in.empty() ? column.wide_in : column.f64_in, column.name));
    }
    table.are_texts.push_back(dtype == bytes);
    CsvColumn& asked = typed.emplace_back(CsvColumn{column.name, dtype});
    if (dtype == bytes) asked.default_value = Tensor::scalar(std::string_view());
    if (dtype == i64) asked.default_value = Tensor::scalar(int64_t{0});
    if (dtype == f32) asked.default_value = Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
    if (dtype == f64) asked.default_value = Tensor::scalar(std::numeric_limits<double>::quiet_NaN());
  }
  return typed;
}

// Whether a reader of an archive finds it in the names of a sample's members.
bool is_key(const std::string& text) {
  const auto samples = group_tar({.members = {{.name = text + ".x"}}}, "");
  return samples && samples->samples.size() == 1 && samples->samples[0].key == text;
}

void check_keys(const Table& table) {
  std::unordered_map<std::string_view, int64_t> row_of;
  for (size_t i = 0; i < table.keys.size(); ++i) {
    const std::string& key = table.keys[i];
    const auto row = static_cast<int64_t>(i);
    if (key.empty()) refuse(fmt::format("{}: its {} is missing", table.place(row), kKeyField));
    if (!is_key(key)) {
      refuse(
          fmt::format("{}: {} '{}' is not a valid key for an archive: the members' names begin with it, "
                      "so it must not have a dot",
                      table.place(row), kKeyField, key));
    }
    const auto [first, is_new] = row_of.try_emplace(key, row);
    if (is_new) continue;
    refuse(fmt::format("{}: {} '{}' is also that of {}", table.place(row), kKeyField, key, table.place(first->second)));
  }
}

// An archive has no sample without a member.
void check_rows(const Table& table) {
  for (int64_t row = 0; !table.ends.empty() && row < table.ends.back(); ++row) {
    bool any = false;
    for (size_t c = 0; !any && c < table.columns.size(); ++c) {
      any = table.columns[c].name != kKeyField && table.has(row, c);
    }
    if (any) continue;
    refuse(
        fmt::format("{}: all cells are missing, and an archive has no samples without parts; remove the row, or "
                    "convert --to tfrecord",
                    table.place(row)));
  }
}

}  // namespace

Dataset csv_samples(const std::vector<std::string>& words, bool for_examples) {
  const auto all = value_or_throw(expand_files(words));
  const auto table = std::make_shared<Table>(Table{.paths = files_with_content(all)});
  table->columns = joined_columns(table->paths);
  for (const std::string& path : table->paths) look_at_rows(path, *table);
  const auto typed = typed_columns(*table, for_examples);
  if (!for_examples) {
    check_keys(*table);
    check_rows(*table);
  }
  table->keys.clear();
  const Dataset rows = csv(table->paths.size() == all.size() ? words : table->paths, {.columns = typed});
  if (rows.node()->slots() != (table->ends.empty() ? 0 : table->ends.back())) {
    refuse("an input file changed during the conversion: it has other rows now");
  }
  return with_presence(rows, "cells", [table](int64_t row, size_t column) { return table->has(row, column); });
}

}  // namespace headpond::cli
