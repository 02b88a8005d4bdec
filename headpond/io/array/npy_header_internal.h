// SPDX-License-Identifier: Apache-2.0
// The header of an npy file (docs/formats/npy.md). Source: NumPy's manual, numpy.lib.format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/dtype.h"
#include "headpond/tensor/shape.h"

namespace headpond::internal {

struct NpyHeader {
  DType dtype = DType::u8;
  bool is_big_endian = false;
  bool is_fortran = false;  ///< The first index changes fastest.
  Shape shape = {};
  uint64_t begin = 0;  ///< The offset of the values, which extend to the end of the file.
  uint64_t bytes = 0;  ///< The size of the values.
};

/// Parses the header of `file`, a whole file. Errors as in npy.h.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> file, std::string_view name);

/// The header of a file of version 1.0. InvalidArgument iff NumPy does not have the dtype.
Result<std::string> make_npy_header(DType dtype, const Shape& shape);

}  // namespace headpond::internal
