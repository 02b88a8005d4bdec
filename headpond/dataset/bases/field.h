// SPDX-License-Identifier: Apache-2.0
// The fields that an operator works on and gives. For authors of operators.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/view.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// The index of the field `name`; "": the only field. Throws Exception(InvalidArgument) naming `op` and the fields.
size_t field_index(const std::string& op, const Spec& spec, const std::string& name);

/// Throws Exception(InvalidArgument) naming `op` and the fields if two of them have the same name.
void check_names(const std::string& op, const Spec& spec);

/// The slot of field `index` alone, if there are slots.
inline OutputSlots slot_of(OutputSlots outputs, size_t index) {
  return index < outputs.size() ? outputs.subspan(index, 1) : OutputSlots();
}

/// Pointwise::apply for an operator that writes the values of one field anew, of the same dtype and shape: `write(from,
/// to)` writes all bytes; the other fields pass.
template <class Write>
Got rewrite_field(Element& in, size_t index, Context& context, OutputSlots outputs, Element& out, const Write& write) {
  Element made;
  write(in[index], context.allocate_output(made, slot_of(outputs, index), in[index].dtype(), in[index].shape()));
  in[index] = std::move(made[size_t{0}]);
  out = std::move(in);
  return Got::value;
}

/// Appends the fields of `spec` to `out`, which is empty: memory for those that are fixed, which
/// Context::allocate_output gives, an empty tensor for the others. Returns where the values of each belong; null for
/// the others.
std::vector<std::byte*> allocate_fields(const Spec& spec, Context& context, OutputSlots outputs, Element& out);

namespace internal {

/// True iff the values of a field always take the same number of bytes.
bool is_fixed(const FieldSpec& field);

/// An element of zeros and empty texts; an unknown dimension is 1.
Element zeros_of(const Spec& spec);

}  // namespace internal
}  // namespace headpond
