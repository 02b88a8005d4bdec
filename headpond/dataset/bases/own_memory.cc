// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "headpond/dataset/bases/own_memory_internal.h"

namespace headpond::internal {

void own_memory(Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    Tensor& tensor = element[i];
    if (tensor.owner() != nullptr) continue;
    const size_t size = tensor.byte_size();
    if (tensor.dtype() != DType::bytes) {
      Tensor copy = Tensor::empty(tensor.dtype(), tensor.shape());
      if (size != 0) std::memcpy(copy.mutable_data(), tensor.data(), size);
      tensor = std::move(copy);
    } else {
      BufferRef buffer = BufferPool::current().allocate(size);
      std::memcpy(buffer->data(), tensor.data(), size);
      const std::byte* const data = buffer->data();
      tensor = Tensor::view(data, DType::bytes, tensor.shape(), std::move(buffer));
    }
  }
}

}  // namespace headpond::internal
