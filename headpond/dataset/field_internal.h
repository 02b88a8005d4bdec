// SPDX-License-Identifier: Apache-2.0
// Which field an operator works on.
#pragma once

#include <string>

#include "headpond/tensor/element.h"

namespace headpond::internal {

/// The index of the field `name`; "": the only field. Throws Exception(InvalidArgument) naming `op` and the fields.
size_t field_index(const std::string& op, const Spec& spec, const std::string& name);

/// Throws Exception(InvalidArgument) naming `op` and the fields if two of them have the same name.
void check_names(const std::string& op, const Spec& spec);

}  // namespace headpond::internal
