// SPDX-License-Identifier: Apache-2.0
// The columns of a CSV file: their types, and the conversion of their cells.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/field_targets_internal.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/csv_rows_internal.h"

namespace headpond::internal {

/// Finds the type of a column from its cells. One thread at a time.
class CsvGuess {
 public:
  /// `text`: without surrounding spaces.
  void see(std::string_view text, bool is_missing);
  DType dtype() const;
  /// The default of missing cells; nullopt iff there is none.
  std::optional<Tensor> default_value() const;

 private:
  bool any_present_ = false, any_missing_ = false;
  bool are_numbers_ = true, are_integers_ = true, needs_f64_ = false;
};

/// Maps the cells of a row to fields. Immutable after finish(), and then thread-safe.
class CsvColumns {
 public:
  /// Throws Exception(InvalidArgument) for options that contradict themselves.
  explicit CsvColumns(const CsvOptions& options);

  /// Chooses the columns among those of the file. InvalidArgument iff one is missing or ambiguous.
  Result<void> choose(const std::vector<std::string>& names);
  /// Uses a cell of column `cell` to find its type if that is not given.
  void see(size_t cell, const CsvCell& content);
  void finish();
  /// After finish(): the types that were found, two bytes for each field, for finish_as().
  std::vector<std::byte> found_types() const;
  /// Like finish(), without cells. False, with nothing changed, iff these are no types of these fields.
  bool finish_as(std::span<const std::byte> types);

  const Spec& fields() const { return fields_; }
  /// The number of cells of a row.
  size_t cells() const { return fields_of_.size(); }
  /// The name of the field of cell number `cell`. REQUIRES: the cell is a field.
  const std::string& column_name(size_t cell) const { return columns_[fields_of_[cell]].name; }
  /// Converts cell number `cell`; the error does not name the place.
  Result<void> read(size_t cell, const CsvCell& content, char quote, const FieldTargets& targets) const;

 private:
  static constexpr size_t kNone = SIZE_MAX;
  Result<void> choose_all(const std::vector<std::string>& names);
  void make_fields();
  bool is_missing(std::string_view text) const;
  Result<void> read_number(size_t field, std::string_view text, const FieldTargets& targets) const;
  Result<void> give_default(size_t field, const FieldTargets& targets) const;

  std::vector<CsvColumn> columns_;
  const std::vector<std::string> na_values_;
  const bool header_;
  std::vector<size_t> fields_of_;  // For each cell of a row the number of its field, or kNone.
  std::vector<CsvGuess> guesses_;  // For each field.
  std::vector<bool> are_given_;    // For each field, whether its type is given.
  Spec fields_;
};

/// The content of a cell as a string, with doubled quotes replaced by one.
std::string csv_text(const CsvCell& cell, char quote);

}  // namespace headpond::internal
