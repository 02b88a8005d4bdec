// SPDX-License-Identifier: Apache-2.0
// The record of a cached element from any bytes: refused, or an element that can be read. The first byte says whether
// its magic and length are made right, so that the rest is parsed too.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "headpond/io/cache/element_record.h"

namespace {

uint64_t sum_of(const headpond::Element& element) {
  uint64_t sum = element.key;
  for (size_t f = 0; f < element.size(); ++f) {
    const headpond::Tensor& field = element[f];
    for (size_t i = 0; i < field.byte_size(); ++i) sum += static_cast<uint64_t>(field.data()[i]);
    if (field.dtype() != headpond::DType::bytes) continue;
    for (int64_t i = 0; i < field.size(); ++i) sum += field.bytes_at(i).size();
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const headpond::BufferRef buffer = headpond::BufferPool::shared().allocate(size - 1);
  if (size > 1) std::memcpy(buffer->data(), data + 1, size - 1);
  if (data[0] % 2 == 1 && size > 17) {
    const uint64_t length = size - 1;
    std::memcpy(buffer->data(), "HPEL", 4);
    std::memcpy(buffer->data() + 8, &length, sizeof(length));
  }
  const std::span<const std::byte> record(buffer->data(), size - 1);
  const auto element = headpond::internal::from_record(record, buffer);
  if (!element) return 0;
  (void)sum_of(*element);
  const auto again = headpond::internal::to_record(*element);
  if (!headpond::internal::from_record(record, buffer) || again.empty()) __builtin_trap();
  return 0;
}
