// SPDX-License-Identifier: Apache-2.0
// Elements that outlive what they were made from.
#pragma once

#include "headpond/tensor/element.h"

namespace headpond::internal {

/// The same values in memory of their own.
Tensor copy_of(const Tensor& tensor);
/// Copies memory that a tensor of `element` borrows, so that it lives as long as the element.
void own_memory(Element& element);
/// For an element that an operator holds for a while: copies memory of another library that only this element uses, as
/// no account counts it. See MemoryAccount::set_only_user().
void hold_memory(Element& element);
/// For an element that is kept: own_memory and hold_memory. The blocks are counted for the calling thread's account,
/// which keeps them: see MemoryAccount::keep().
void keep_memory(Element& element);

}  // namespace headpond::internal
