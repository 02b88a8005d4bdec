// SPDX-License-Identifier: Apache-2.0
// Kernels made of kernels: one of several, or several with a probability. By the names and defaults of torchvision.
// Thread-safe. They draw one word under their own names, random_choice and random_apply; the kernels in them draw as
// KernelCall::run_nested() says, so that a kernel of another name in the list changes no numbers.
#pragma once

#include <vector>

#include "headpond/tensor/kernel.h"

namespace headpond {

/// Runs one of `kernels`, drawn by the weights `p`; none: all are equal. For all of them the fields must get the same
/// dtypes and ranks; a dimension in which they differ is unknown. Throws Exception(InvalidArgument) iff there is no
/// kernel or a null one, or `p` has another length, a number below 0 or above 1e30, or no number above 0; and, when a
/// map is built, for fields that a kernel can't take.
KernelRef random_choice(const std::vector<KernelRef>& kernels, const std::vector<double>& p = {});

/// Runs all of `kernels`, one after the other, if the word is below p, as a number in [0, 1). With and without them the
/// fields must have the same dtypes and ranks. Throws as random_choice(), and for p outside [0, 1].
KernelRef random_apply(const std::vector<KernelRef>& kernels, double p = 0.5);

}  // namespace headpond
