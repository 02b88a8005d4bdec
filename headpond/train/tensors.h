// SPDX-License-Identifier: Apache-2.0
// Batches as torch tensors, without a copy:
//
//   for (const Batch& batch : loader) step(value_or_throw(as_torch(batch["image"])), ...);
#pragma once

#include <torch/torch.h>

#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"
#include "headpond/train/device/device_feed.h"

namespace headpond {

/// The torch type of the same values. Unimplemented, naming the dtype, iff torch has none: u16, u32, u64, bytes.
Result<torch::ScalarType> torch_dtype(DType dtype);

/// A torch tensor over the bytes of `tensor`: on the CPU, contiguous. It keeps the buffer alive. The buffer returns to
/// its pool with the last torch tensor over it, on any thread. Borrowed bytes (Tensor::view without an owner) must
/// outlive it. Other tensors may share the bytes: only read them, or clone() before you write in place.
Result<torch::Tensor> as_torch(const Tensor& tensor);

/// The same for each field, in order. An error names the field.
Result<std::vector<torch::Tensor>> as_torch(const Element& element);

/// A torch tensor over what is on a device, of a DeviceFeed: on the CUDA device of that number, or on the CPU for a
/// FakeStream. The batch's memory is used again when the last tensor over it is gone, on any thread: on CUDA after what
/// the program has asked of the device until then. Unimplemented as above.
Result<torch::Tensor> as_torch(const DeviceTensor& tensor);

}  // namespace headpond
