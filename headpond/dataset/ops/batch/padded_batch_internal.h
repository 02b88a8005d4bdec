// SPDX-License-Identifier: Apache-2.0
// The padding of each field, for padded_batch and others.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/batch/padding_internal.h"

namespace headpond::internal {

struct PaddedField {
  std::string label;       ///< Its name, or its number.
  Shape limit;             ///< Shape of a row; kUnknown: as long as the longest.
  PaddingValue value{};    ///< For numbers.
  std::string text = "";   ///< For dtype bytes.
  std::string said = "0";  ///< For the plan.
};

/// Throws Exception(InvalidArgument), naming `op`, for a field that does not exist, a shape of another rank, or a value
/// that the dtype cannot hold. The maps are those of PaddedBatchOptions.
std::vector<PaddedField> padded_fields(const std::string& op, const Spec& spec,
                                       const std::map<std::string, Shape>& padded_shapes,
                                       const std::map<std::string, PadWith>& padding_values);
/// ", x=[3,?] pad 0, ...": for the plan.
std::string to_string(const std::vector<PaddedField>& fields);
/// The spec of a padded row.
Spec padded_spec(const Spec& spec, const std::vector<PaddedField>& fields);
/// No error iff `row` has the fields, dtypes and ranks of `spec` (else InvalidArgument), and none is longer than its
/// limit (else DataLoss).
Error check_padded(const Spec& spec, const std::vector<PaddedField>& fields, int64_t number, const Element& row);
/// Appends the fields of a batch of padded rows to `out`; `spec` is that of the batch. Throws Exception
/// (InvalidArgument) if it is too large. REQUIRES: at least one row; check_padded passed.
void stack_padded(std::span<const Element> rows, const std::vector<PaddedField>& fields, const Spec& spec,
                  Context& context, OutputSlots outputs, Element& out);

}  // namespace headpond::internal
