// SPDX-License-Identifier: Apache-2.0
// The promises that every kernel keeps: see headpond/testing.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/tensor/kernel.h"

namespace headpond {

struct KernelContractOptions {
  /// The roles of a sample's fields, the first an image; none: a sample has one field, the image.
  std::vector<FieldRole> roles = {};
  /// Kernels that may stand before or after it in a map. The chain is run joined, and one by one.
  std::vector<KernelRef> before = {}, after = {};
  uint64_t seed = 7;
  /// Loaders are run with 0, 1, ... so many threads; at least 0.
  int threads = 4;
};

/// "" iff `kernel` keeps these promises for `samples`, the fields of one each, which are arguments of `before`; else
/// the first violation, in words:
/// - What run() gives has the dtype and the shape that Facts::result says, of fields of known and of unknown shapes;
///   what result refuses, run() refuses.
/// - A second call gives the same bytes or the same error: with other memory in the scratch, on a copy of the
///   arguments, and into memory of the caller, of which every byte is written. The arguments stay as they are.
/// - One whose Facts::draws is "" gives the same for every key and epoch; one that draws gives another result for some.
/// - Joined with its neighbours it gives the bytes and errors of all one by one.
/// - In a map it keeps the promises of datasets: contract_violation() of headpond/testing.h, with threads.
/// Samples have the same number of fields, and a field the same dtype and rank in all. Give some that the kernel
/// refuses, too. Throws nothing.
std::string kernel_violation(const KernelRef& kernel, const std::vector<std::vector<Tensor>>& samples,
                             const KernelContractOptions& options = {});

}  // namespace headpond
