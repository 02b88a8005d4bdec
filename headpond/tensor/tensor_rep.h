// SPDX-License-Identifier: Apache-2.0
// How a tensor lies in memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "headpond/tensor/buffer.h"
#include "headpond/tensor/dtype.h"

namespace headpond {

/// The 48 bytes of a Tensor. Whole words and no unions: a tensor that is only made and moved on stays in registers.
struct TensorRep {
  struct LongDims;
  using Word [[gnu::may_alias]] = uint64_t;  // The values are written as what they are.

  Word payload[2] = {0, 0};  ///< The values if they are inline, else the address of the first.
  Buffer* owner = nullptr;
  uint64_t dims[2] = {0, 0};  ///< Four of 32 bits, the lower half of a word first; or long_dims().
  DType dtype = DType::u8;
  uint8_t rank = 1;
  bool is_inline = false;
  bool has_long_dims = false;

  const std::byte* data() const {
    return is_inline ? reinterpret_cast<const std::byte*>(payload) : std::bit_cast<const std::byte*>(payload[0]);
  }
  /// REQUIRES: !has_long_dims.
  uint32_t short_dim(int axis) const { return static_cast<uint32_t>(dims[axis >= 2 ? 1 : 0] >> (axis % 2 * 32)); }
  /// Counted; for more than four dimensions, or one of 2^32 and above. REQUIRES: has_long_dims.
  LongDims* long_dims() const { return std::bit_cast<LongDims*>(dims[0]); }
};

}  // namespace headpond
