// SPDX-License-Identifier: Apache-2.0
// The state that scan and reduce carry: elements that keep the dtypes and shapes of the first one.
#pragma once

#include <cstdint>

#include "headpond/dataset/state.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

/// Dtypes and shapes of `element`, with names if it has names.
Spec spec_of(const Element& element);

/// A checksum of dtypes, shapes and values, for plans: two elements that differ are two plans.
uint32_t digest_of(const Element& element);

/// Saves or restores the values of `element`, which has dtypes and shapes of `spec`. Its tensors may share memory with
/// others: restoring makes new ones.
void visit_values(StateVisitor& visitor, const Spec& spec, Element& element);

}  // namespace headpond::internal
