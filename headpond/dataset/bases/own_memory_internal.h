// SPDX-License-Identifier: Apache-2.0
// Elements that outlive what they were made from.
#pragma once

#include "headpond/tensor/element.h"

namespace headpond::internal {

/// The same values in memory of their own.
Tensor copy_of(const Tensor& tensor);
/// Copies memory that a tensor of `element` borrows, so that it lives as long as the element.
void own_memory(Element& element);
/// The same, and copies memory of another library that only this element uses, as no account counts it. The blocks are
/// counted for the calling thread's account, which keeps them: see MemoryAccount::keep() and set_only_user().
void keep_memory(Element& element);

}  // namespace headpond::internal
