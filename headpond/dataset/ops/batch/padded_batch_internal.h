// SPDX-License-Identifier: Apache-2.0
// The options of padded_batch for each field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/padding_internal.h"

namespace headpond::internal {

struct PaddedField {
  std::string label;  ///< Its name, or its number.
  Shape limit;        ///< Of a row; kUnknown: as long as the longest.
  PaddingValue value{};
  double said = 0;
};

/// Throws Exception(InvalidArgument) for a field that does not exist, a shape of another rank, or a value that the
/// dtype cannot hold.
std::vector<PaddedField> padded_fields(const Spec& spec, const PaddedBatchOptions& options);
/// ", x=[3,?] pad 0, ...": for the plan.
std::string to_string(const std::vector<PaddedField>& fields);
/// The spec of a padded row.
Spec padded_spec(const Spec& spec, const std::vector<PaddedField>& fields);
/// No error iff `row` has the fields, dtypes and ranks of `spec` (else InvalidArgument), and none is longer than its
/// limit (else DataLoss).
Error check_padded(const Spec& spec, const std::vector<PaddedField>& fields, int64_t number, const Element& row);

}  // namespace headpond::internal
