// SPDX-License-Identifier: Apache-2.0
// npz files, as numpy.savez and numpy.savez_compressed write them: several arrays in a zip archive
// (docs/formats/npy.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// The arrays in the order of the archive, with their names without ".npy". Errors of an array as read_npy(), with the
/// member's name. DataLoss iff the archive is cut or damaged: its directory contradicts itself, the members or the
/// file's size, members share bytes, or a checksum is wrong; InvalidArgument iff a member is no npy file, or a name is
/// there twice; Unimplemented iff a member is encrypted or packed by anything but deflate; ResourceExhausted iff all
/// members together are inflated to more than `limit` bytes, or without memory. Nothing is allocated that the file has
/// too few bytes for: deflate makes at most 1,032 bytes of one.
Result<std::vector<std::pair<std::string, Tensor>>> read_npz(const std::string& path, uint64_t limit = UINT64_MAX);

/// The same of a file's content; `name` is for error texts.
Result<std::vector<std::pair<std::string, Tensor>>> read_npz(std::span<const std::byte> content, std::string_view name,
                                                             uint64_t limit = UINT64_MAX);

}  // namespace headpond
