// SPDX-License-Identifier: Apache-2.0
// CSV files from any bytes. The first byte chooses the dialect. Whatever types are found in the content, every row must
// be readable with them, and every number must be what the C library reads; the cells of a row, written again with
// quotes, must be read as the same cells.
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/text/csv.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

using Cells = std::vector<std::string>;

std::string quoted(const Cells& cells, const headpond::CsvOptions& options) {
  std::string row;
  for (const std::string& cell : cells) {
    row += row.empty() ? "" : std::string(1, options.delimiter);
    row += options.quote;
    for (const char c : cell) row += c == options.quote ? std::string(2, c) : std::string(1, c);
    row += options.quote;
  }
  return row;
}

Cells cells_of(const headpond::CsvFile& file, int64_t i) {
  std::vector<headpond::Tensor> row(file.fields().size());
  require(file.read(i, {}, row).has_value());
  Cells cells;
  for (const headpond::Tensor& cell : row) {
    const bool is_text = cell.dtype() == headpond::DType::bytes;
    cells.push_back(is_text ? std::string(cell.bytes_at(0)) : std::string());
  }
  return cells;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_number_of(const headpond::Tensor& cell, const std::string& text) {
  char* end = nullptr;
  const bool is_missing = text.empty() || text == "NA";
  if (cell.dtype() == headpond::DType::i64) {
    errno = 0;
    const int64_t integer = std::strtoll(text.c_str(), &end, 10);
    return !is_missing && errno == 0 && *end == 0 && cell.as<int64_t>()[0] == integer;
  }
  const bool is_f32 = cell.dtype() == headpond::DType::f32;
  const double found = is_f32 ? static_cast<double>(cell.as<float>()[0]) : cell.as<double>()[0];
  if (is_missing) return std::isnan(found);
  const double number = is_f32 ? static_cast<double>(std::strtof(text.c_str(), &end)) : std::strtod(text.c_str(), &end);
  return *end == 0 && is_same(found, number);
}

// Row i of the same content with the types found, and as text.
void check_numbers(const headpond::CsvFile& file, const headpond::CsvFile& plain, int64_t i) {
  std::vector<headpond::Tensor> row(file.fields().size());
  require(file.read(i, {}, row).has_value());
  const Cells texts = cells_of(plain, i);
  for (size_t k = 0; k < row.size(); ++k) {
    require(row[k].dtype() == headpond::DType::bytes || is_number_of(row[k], trimmed(texts[k])));
  }
}

// All columns of `file` as text.
headpond::CsvOptions as_bytes(const headpond::CsvFile& file, headpond::CsvOptions options) {
  for (const auto& field : file.fields()) {
    const auto empty = headpond::Tensor::scalar(std::string_view());
    options.columns.push_back({.name = field.name, .dtype = headpond::DType::bytes, .default_value = empty});
  }
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size)).subspan(1);
  headpond::CsvOptions options{.header = (data[0] & 1) != 0, .na_values = {"NA"}, .max_inflated_bytes = 1 << 20};
  if ((data[0] & 2) != 0) options.delimiter = ';';
  if ((data[0] & 4) != 0) options.quote = '\'';
  if ((data[0] & 8) != 0) options.comment = '#';
  if ((data[0] & 16) != 0) options.max_row_bytes = 20;
  const auto file = headpond::CsvFile::over("fuzz", bytes, options);
  if (!file) return 0;
  headpond::CsvOptions text = as_bytes(**file, options);
  text.na_values.clear();
  const auto plain = headpond::CsvFile::over("fuzz", bytes, text);
  require(plain && (*plain)->size() == (*file)->size());
  for (int64_t i = 0; i < (*file)->size(); ++i) check_numbers(**file, **plain, i);
  text.header = false;
  text.skip_bom = false;
  text.max_row_bytes = UINT64_MAX;
  for (int64_t i = 0; i < (*plain)->size() && !text.columns.empty(); ++i) {
    const Cells cells = cells_of(**plain, i);
    const std::string row = quoted(cells, text);
    const auto again = headpond::CsvFile::over("again", std::as_bytes(std::span(row)), text);
    require(again && (*again)->size() == 1 && cells_of(**again, 0) == cells);
  }
  return 0;
}
