// SPDX-License-Identifier: Apache-2.0
// Maps that call their function for each value of a field.
#pragma once

#include "headpond/dataset/function.h"
#include "headpond/dataset/view.h"

namespace headpond::internal {

/// `function` for `input`: if it works on each value, its result has the shape of the field. REQUIRES: check passed.
Function over_input(Function function, const Spec& input);

/// Appends the result of each value of `in` to `out`, in the same shape. REQUIRES: function.each; a field that its
/// check allows.
void map_values(const Function& function, const Tensor& in, Context& context, OutputSlots outputs, Element& out);

/// View::fill of `input`, with `function` applied to field `index`, whose spec there is `field`. False if the function
/// has no `each`, and for large fields, for which at() is as cheap.
bool fill_values(const View& input, const Function& function, size_t index, const FieldSpec& field,
                 std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys);

}  // namespace headpond::internal
