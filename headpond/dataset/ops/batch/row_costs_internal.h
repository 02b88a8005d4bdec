// SPDX-License-Identifier: Apache-2.0
// What the rows of a batch cost, for sharing them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "headpond/dataset/function.h"

namespace headpond::internal {

/// Immutable; any thread.
class RowCosts {
 public:
  RowCosts() = default;  ///< Not known.
  /// The values of a field. Throws Exception(InvalidArgument), naming `op`, unless `batches` has the field `name`, or
  /// one without a name and that number, and it has a number for each row.
  static RowCosts of_field(const std::string& op, const Spec& batches, const std::string& name);
  /// What `function` returns for each row. Throws Exception(InvalidArgument), naming `op`, unless it takes the rows of
  /// `batches` and returns a number. REQUIRES: each field has rows.
  static RowCosts of_function(const std::string& op, const Spec& batches, Function function);

  bool is_known() const { return !std::holds_alternative<std::monostate>(from_); }
  /// The index of the field; nullptr: there is none.
  const size_t* field() const { return std::get_if<size_t>(&from_); }
  /// One number for each row, at least 0. InvalidArgument, naming the row, for one that is below 0, infinite or NaN;
  /// the function's error, naming the row. May throw. REQUIRES: is_known(); each field has so many rows.
  Result<std::vector<double>> of(const Element& batch, int64_t rows) const;

 private:
  std::variant<std::monostate, size_t, Function> from_;
};

}  // namespace headpond::internal
