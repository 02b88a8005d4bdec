// SPDX-License-Identifier: Apache-2.0
// Maps that call their function for each value of a field.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "headpond/dataset/function.h"
#include "headpond/dataset/view.h"

namespace headpond::internal {

/// `function` for `input`: if it works on each value, its result has the shape of the field. REQUIRES: check passed.
Function over_input(Function function, const Spec& input);

/// Appends the result of each value of `in` to `out`, in the same shape. REQUIRES: function.each; a field that its
/// check allows.
void map_values(const Function& function, const Tensor& in, Context& context, OutputSlots outputs, Element& out);

/// Writes the results of so many rows of a field, one after the other.
using MakeRows = std::function<void(const std::byte* from, size_t rows, std::byte* to)>;

/// View::fill of `input`, with field `index`, whose spec there is `field`, replaced by what `make` makes of blocks of
/// its rows. False for fields of an unknown shape, and for large ones, for which at() is as cheap.
bool fill_rows(const View& input, size_t index, const FieldSpec& field, std::span<const int64_t> positions,
               Context& context, OutputSlots columns, uint64_t* keys, const MakeRows& make);

/// fill_rows() with `function` applied to each value. False also if the function has no `each`.
bool fill_values(const View& input, const Function& function, size_t index, const FieldSpec& field,
                 std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys);

}  // namespace headpond::internal
