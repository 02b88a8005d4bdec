// SPDX-License-Identifier: Apache-2.0
// Whether an element fits the spec of its dataset.
#pragma once

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

/// No error iff `element` has the fields of `spec`: number, dtypes, shapes that the spec's admit, and names if it has
/// names. Else InvalidArgument, with what was expected and what was found.
Error check_element(const Spec& spec, const Element& element);

}  // namespace headpond::internal
