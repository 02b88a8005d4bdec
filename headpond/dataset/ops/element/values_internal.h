// SPDX-License-Identifier: Apache-2.0
// Maps that work on each value of a field by itself.
#pragma once

#include "headpond/dataset/function.h"
#include "headpond/dataset/view.h"

namespace headpond::internal {

/// `function` over `input`: its result has the shape of the field, if it works on each value. REQUIRES: it was checked.
Function over_input(Function function, const Spec& input);

/// Appends the result of each value of `in` to `out`, in the same shape. REQUIRES: function.each; a field that its
/// check allows.
void map_values(const Function& function, const Tensor& in, Context& context, OutputSlots outputs, Element& out);

/// View::fill of `input` with field `index`, which is a `field` there, through `function`. False if the function has no
/// `each`, and for fields that are as cheap through at(): large ones.
bool fill_values(const View& input, const Function& function, size_t index, const FieldSpec& field,
                 std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys);

}  // namespace headpond::internal
