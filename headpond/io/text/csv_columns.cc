// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/csv_columns_internal.h"
#include "headpond/io/text/number_text_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kLargestExactF32 = int64_t{1} << 24;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

[[noreturn]] void refuse(const std::string& why) { throw Exception(Error(ErrorKind::InvalidArgument, "csv: " + why)); }

void check_column(const CsvColumn& column) {
  const std::string shown = "column " + quoted_name(column.name);
  if (column.dtype && *column.dtype != DType::bytes && !is_written_as_number(*column.dtype)) {
    refuse(fmt::format("{}: {} is not read from text", shown, name(*column.dtype)));
  }
  if (!column.default_value) return;
  const Tensor& given = *column.default_value;
  if (!column.dtype || given.dtype() != *column.dtype || given.rank() != 0) {
    refuse(fmt::format("{}: a default must be a scalar of the column's dtype, which must be given; found {}{}", shown,
                       name(given.dtype()), given.shape().to_string()));
  }
}

void check_characters(const CsvOptions& options) {
  if (options.delimiter == 0) refuse("the delimiter is empty");
  const char chosen[] = {options.delimiter, options.quote, options.comment};
  bool fits = true;
  for (size_t i = 0; i < 3; ++i) {
    fits = fits && chosen[i] != '\r' && chosen[i] != '\n';
    for (size_t k = 0; k < i; ++k) fits = fits && (chosen[i] == 0 || chosen[i] != chosen[k]);
  }
  if (!fits) refuse("delimiter, quote and comment must differ and must not be line ends");
}

// The default of a type that was found.
Tensor missing_value(DType dtype) {
  if (dtype == DType::bytes) return Tensor::scalar(std::string_view());
  return dtype == DType::f32 ? Tensor::scalar(std::nanf("")) : Tensor::scalar(std::nan(""));
}

// The first columns that there are.
std::string there_are(const std::vector<std::string>& names) {
  constexpr size_t kMostShown = 10;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "; there are " : ", ", quoted_name(names[i]));
  }
  return names.size() > kMostShown ? text + ", ..." : text;
}

bool can_be_found(DType dtype) {
  return dtype == DType::bytes || dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64;
}

constexpr std::byte kGiven{0xff};

}  // namespace

void CsvGuess::see(std::string_view text, bool is_missing) {
  (is_missing ? any_missing_ : any_present_) = true;
  if (is_missing || !are_numbers_) return;
  int64_t integer = 0;
  float small = 0;
  double large = 0;
  const NumberFault fault = read_number(text, integer);
  if (fault == NumberFault::none) {
    needs_f64_ |= integer > kLargestExactF32 || integer < -kLargestExactF32;
    return;
  }
  are_integers_ = false;
  // An integer beyond i64 is more likely a name than a quantity.
  are_numbers_ = fault != NumberFault::out_of_range && read_number(text, large) == NumberFault::none;
  const bool is_whole = std::isfinite(large) && std::trunc(large) == large;
  needs_f64_ |= read_number(text, small) != NumberFault::none || (small == 0 && large != 0) ||
                (is_whole && std::abs(large) > static_cast<double>(kLargestExactF32));
}

DType CsvGuess::dtype() const {
  if (!any_present_) return any_missing_ ? DType::f32 : DType::bytes;
  if (!are_numbers_) return DType::bytes;
  if (are_integers_ && !any_missing_) return DType::i64;
  return needs_f64_ ? DType::f64 : DType::f32;
}

std::optional<Tensor> CsvGuess::default_value() const {
  return any_missing_ ? std::optional(missing_value(dtype())) : std::nullopt;
}

std::string csv_text(const CsvCell& cell, char quote) {
  std::string text;
  for (size_t i = 0; i < cell.text.size(); ++i) {
    text += cell.text[i];
    if (cell.has_doubled && cell.text[i] == quote) ++i;
  }
  return text;
}

CsvColumns::CsvColumns(const CsvOptions& options)
    : columns_(options.columns), na_values_(options.na_values), header_(options.header) {
  check_characters(options);
  std::set<std::string_view> names;
  for (const CsvColumn& column : columns_) {
    check_column(column);
    if (!names.insert(column.name).second) refuse(fmt::format("column {} twice", quoted_name(column.name)));
  }
}

Result<void> CsvColumns::choose_all(const std::vector<std::string>& names) {
  if (!columns_.empty() && columns_.size() != names.size()) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{} cells in a row without a header, {} columns requested", names.size(), columns_.size()));
  }
  if (columns_.empty()) {
    for (const std::string& name : names) columns_.push_back({.name = name});
  }
  for (size_t cell = 0; cell < names.size(); ++cell) fields_of_[cell] = cell;
  return {};
}

Result<void> CsvColumns::choose(const std::vector<std::string>& names) {
  fields_of_.assign(names.size(), kNone);
  if (columns_.empty() || !header_) HEADPOND_TRY(choose_all(names));
  guesses_.resize(columns_.size());
  for (const CsvColumn& column : columns_) are_given_.push_back(column.dtype.has_value());
  if (!header_) return {};
  struct Cells {
    size_t first, count = 0;
  };
  std::unordered_map<std::string_view, Cells> cells_of;
  for (size_t cell = 0; cell < names.size(); ++cell) {
    ++cells_of.try_emplace(names[cell], Cells{cell}).first->second.count;
  }
  for (size_t field = 0; field < columns_.size(); ++field) {
    const auto found = cells_of.find(columns_[field].name);
    const size_t count = found == cells_of.end() ? 0 : found->second.count;
    if (count != 1) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("the header has {} columns {}, expected one{}", count, quoted_name(columns_[field].name),
                              count == 0 ? there_are(names) : ""));
    }
    fields_of_[found->second.first] = field;
  }
  return {};
}

bool CsvColumns::is_missing(std::string_view text) const {
  return text.empty() || std::find(na_values_.begin(), na_values_.end(), text) != na_values_.end();
}

void CsvColumns::see(size_t cell, const CsvCell& content) {
  const size_t field = fields_of_[cell];
  if (field == kNone || columns_[field].dtype) return;
  const std::string_view text = trimmed(content.text);
  guesses_[field].see(text, is_missing(text));
}

void CsvColumns::finish() {
  for (size_t field = 0; field < columns_.size(); ++field) {
    CsvColumn& column = columns_[field];
    if (column.dtype) continue;
    column.dtype = guesses_[field].dtype();
    column.default_value = guesses_[field].default_value();
  }
  make_fields();
}

void CsvColumns::make_fields() {
  for (const CsvColumn& column : columns_) fields_.push_back({column.name, *column.dtype, {}});
}

std::vector<std::byte> CsvColumns::found_types() const {
  std::vector<std::byte> types;
  for (size_t field = 0; field < columns_.size(); ++field) {
    const bool given = field < are_given_.size() && are_given_[field];
    types.push_back(given ? kGiven : static_cast<std::byte>(*columns_[field].dtype));
    types.push_back(static_cast<std::byte>(!given && columns_[field].default_value.has_value()));
  }
  return types;
}

bool CsvColumns::finish_as(std::span<const std::byte> types) {
  if (types.size() != 2 * columns_.size() || are_given_.size() != columns_.size()) return false;
  const auto type = [&](size_t field) { return static_cast<DType>(types[2 * field]); };
  for (size_t field = 0; field < columns_.size(); ++field) {
    const bool has_default = types[2 * field + 1] != std::byte{0};
    const bool fits = are_given_[field] ? types[2 * field] == kGiven
                                        : can_be_found(type(field)) && !(has_default && type(field) == DType::i64);
    if (!fits) return false;
  }
  for (size_t field = 0; field < columns_.size(); ++field) {
    if (are_given_[field]) continue;
    columns_[field].dtype = type(field);
    if (types[2 * field + 1] != std::byte{0}) columns_[field].default_value = missing_value(type(field));
  }
  make_fields();
  return true;
}

Result<void> CsvColumns::give_default(size_t field, const FieldTargets& targets) const {
  const CsvColumn& column = columns_[field];
  if (!column.default_value) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{} expected, the cell is missing and the column has no default", name(*column.dtype)));
  }
  std::byte* const target = *column.dtype == DType::bytes ? nullptr : targets.target(field);
  if (target == nullptr) return targets.give(field, *column.default_value);
  std::memcpy(target, column.default_value->data(), item_size(*column.dtype));
  return {};
}

Result<void> CsvColumns::read_number(size_t field, std::string_view text, const FieldTargets& targets) const {
  const DType dtype = *columns_[field].dtype;
  std::byte* const target = targets.target(field);
  Tensor tensor;
  if (target == nullptr) tensor = Tensor::empty(dtype, {});
  const NumberFault fault = read_number_as(dtype, text, target != nullptr ? target : tensor.mutable_data());
  if (fault == NumberFault::none) return target != nullptr ? Result<void>() : targets.give(field, std::move(tensor));
  return fail(ErrorKind::InvalidArgument,
              fmt::format("{} expected, found {}{}", name(dtype), quoted_name(text),
                          fault == NumberFault::out_of_range ? ", which is out of its range" : ""));
}

Result<void> CsvColumns::read(size_t cell, const CsvCell& content, char quote, const FieldTargets& targets) const {
  const size_t field = fields_of_[cell];
  if (field == kNone) return {};
  if (*columns_[field].dtype != DType::bytes) {
    const std::string_view text = trimmed(content.text);
    return is_missing(text) ? give_default(field, targets) : read_number(field, text, targets);
  }
  if (!content.is_quoted && is_missing(content.text)) return give_default(field, targets);
  if (!content.has_doubled) return targets.give(field, Tensor::scalar(content.text));
  return targets.give(field, Tensor::scalar(std::string_view(csv_text(content, quote))));
}

}  // namespace headpond::internal
