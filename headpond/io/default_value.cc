// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/default_value_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond::internal {
namespace {

// Fills `bytes` of `target` with copies of `item`.
void fill(std::byte* target, size_t bytes, const std::byte* item, size_t item_bytes) {
  for (size_t filled = 0; filled < bytes;) {
    const size_t more = filled == 0 ? item_bytes : std::min(filled, bytes - filled);
    std::memcpy(target + filled, filled == 0 ? item : target, more);
    filled += more;
  }
}

Tensor repeated(const Tensor& scalar, const Shape& shape) {
  if (scalar.dtype() == DType::bytes) {
    return Tensor::from(std::vector<std::string_view>(static_cast<size_t>(*shape.size()), scalar.bytes_at(0)), shape);
  }
  Tensor tensor = Tensor::empty(scalar.dtype(), shape);
  fill(tensor.mutable_data(), tensor.byte_size(), scalar.data(), item_size(scalar.dtype()));
  return tensor;
}

}  // namespace

DefaultValue::DefaultValue(const Tensor& given, const Shape& shape)
    : given_(given), shape_(given.rank() == 0 && shape.is_full() ? shape : given.shape()) {}

Result<void> DefaultValue::give(size_t field, std::byte* target, const FieldTargets& targets) const {
  if (target != nullptr) {
    const size_t item = item_size(given_.dtype());
    if (is_repeated()) {
      fill(target, static_cast<size_t>(*shape_.size()) * item, given_.data(), item);
    } else if (given_.byte_size() != 0) {
      std::memcpy(target, given_.data(), given_.byte_size());
    }
    return {};
  }
  if (!is_repeated()) return targets.give(field, given_);
  try {
    std::call_once(once_, [this] { whole_ = repeated(given_, shape_); });
  } catch (const std::exception&) {  // No memory, or a size that overflows.
    return fail(no_memory(fmt::format("no memory for a default of {}{}", name(given_.dtype()), shape_.to_string())));
  }
  return targets.give(field, whole_);
}

uint32_t DefaultValue::checksum() const { return crc32c({given_.data(), given_.byte_size()}); }

}  // namespace headpond::internal
