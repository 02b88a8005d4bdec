// SPDX-License-Identifier: Apache-2.0
// The memory layout of a Tensor.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "headpond/tensor/buffer.h"
#include "headpond/tensor/dtype.h"

namespace headpond {

/// The 48 bytes of a Tensor. Whole words and no unions, so that a tensor that is only made and moved stays in
/// registers.
struct TensorRep {
  struct LongDims;
  enum class Payload : uint8_t {
    outside,  ///< In an owned buffer, or borrowed.
    inside,   ///< In these 48 bytes.
    lent,     ///< Borrowed memory that may be written.
  };
  using Word [[gnu::may_alias]] = uint64_t;  // Values are written with their own type.

  Word payload[2] = {0, 0};  ///< The values if they are inside, else the address of the first one.
  Buffer* owner = nullptr;
  uint64_t dims[2] = {0, 0};  ///< Four of 32 bits, the lower half of each word first; or long_dims().
  DType dtype = DType::u8;
  uint8_t rank = 1;
  Payload where = Payload::outside;
  bool has_long_dims = false;

  bool is_inline() const { return where == Payload::inside; }
  const std::byte* data() const {
    return is_inline() ? reinterpret_cast<const std::byte*>(payload) : std::bit_cast<const std::byte*>(payload[0]);
  }
  /// REQUIRES: !has_long_dims.
  uint32_t short_dim(int axis) const { return static_cast<uint32_t>(dims[axis >= 2 ? 1 : 0] >> (axis % 2 * 32)); }
  /// Counted; used for more than four dimensions, or a dimension of 2^32 and above. REQUIRES: has_long_dims.
  LongDims* long_dims() const { return std::bit_cast<LongDims*>(dims[0]); }
};

}  // namespace headpond
