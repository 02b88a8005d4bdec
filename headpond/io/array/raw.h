// SPDX-License-Identifier: Apache-2.0
// Numbers stored as bytes, one after the other, without a header (TensorFlow's decode_raw).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

struct RawOptions {
  bool little_endian = true;  ///< Else big-endian.
  Shape shape = {kUnknown};   ///< The result's shape; the first dimension may be kUnknown.
};

/// Reads bytes as numbers. Immutable, thread-safe.
class RawDecoder {
 public:
  /// Throws Exception(InvalidArgument) for dtype bytes, and for a shape that is unknown beyond its first dimension, has
  /// rows of no values, or is too large.
  explicit RawDecoder(DType dtype, RawOptions options = {});

  /// The dtype and the shape of what decode() returns; no name.
  const FieldSpec& field() const { return field_; }
  /// "float32[?]", "int16[2,2], big-endian".
  std::string describe() const;

  /// InvalidArgument iff the bytes are not a whole number of values, or of rows, or not as many as the shape has, or a
  /// boolean is neither 0 nor 1; ResourceExhausted iff there is no memory. Allocates nothing beyond the tensor.
  Result<Tensor> decode(std::string_view raw) const;
  Result<Tensor> decode(std::span<const std::byte> raw) const {
    return decode(std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size()));
  }

 private:
  const FieldSpec field_;
  const bool little_endian_;
  uint64_t row_bytes_;  // Bytes of the shape without its first dimension if that is unknown, else of all of it.
};

}  // namespace headpond
