// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {

Tensor copy_of(const Tensor& tensor) {
  const size_t size = tensor.byte_size();
  if (tensor.dtype() != DType::bytes) {
    Tensor copy = Tensor::empty(tensor.dtype(), tensor.shape());
    if (size != 0) std::memcpy(copy.mutable_data(), tensor.data(), size);
    return copy;
  }
  BufferRef buffer = BufferPool::current().allocate(size);
  std::memcpy(buffer->data(), tensor.data(), size);
  const std::byte* const data = buffer->data();
  return Tensor::view(data, DType::bytes, tensor.shape(), std::move(buffer));
}

void own_memory(Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].owner() == nullptr) element[i] = copy_of(element[i]);
  }
}

void hold_memory(Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    Buffer* const block = element[i].owner();
    if (block != nullptr && MemoryAccount::is_only_user(*block)) element[i] = copy_of(element[i]);
  }
}

void keep_memory(Element& element) {
  own_memory(element);
  hold_memory(element);
  for (size_t i = 0; i < element.size(); ++i) {
    if (Buffer* const kept = element[i].owner()) MemoryAccount::keep(*kept);
  }
}

}  // namespace headpond::internal
