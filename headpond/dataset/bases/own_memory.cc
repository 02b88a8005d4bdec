// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/tensor/memory_account.h"

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

void keep_memory(Element& element) {
  own_memory(element);
  for (size_t i = 0; i < element.size(); ++i) {
    if (Buffer* const block = element[i].owner()) MemoryAccount::keep(*block);
  }
}

}  // namespace headpond::internal
