// SPDX-License-Identifier: Apache-2.0
// Batches as torch tensors, without a copy.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// torch's type for the same values. Unimplemented, naming the dtype, iff torch has none: u16, u32, u64, bytes.
Result<torch::ScalarType> torch_dtype(DType dtype);

/// A torch tensor over the bytes of `tensor`, on the CPU, contiguous. It keeps their buffer alive, and the buffer
/// returns to its pool when the last torch tensor over it is gone, on whatever thread that happens; borrowed bytes
/// (Tensor::view without an owner) must outlive it. The bytes may be shared: read them, or clone() before writing in
/// place.
Result<torch::Tensor> as_torch(const Tensor& tensor);

/// The same for each field, in their order. An error names the field.
Result<std::vector<torch::Tensor>> as_torch(const Element& element);

}  // namespace headpond
