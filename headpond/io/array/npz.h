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

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// The arrays in the order of the archive, with their names without ".npy"; members of other names are skipped. Errors
/// of an array as read_npy(), with the member's name. DataLoss iff the archive is truncated or damaged: its directory
/// contradicts itself, the members or the file's size, members overlap, or a checksum is wrong; InvalidArgument iff a
/// member is not an npy file although its name says so, or a name occurs twice; Unimplemented iff a member is
/// encrypted, or compressed by anything but deflate; ResourceExhausted iff all members together inflate to more than
/// `limit` bytes, or without memory. Memory is bounded by the size of the file: deflate makes at most 1,032 bytes of
/// one.
Result<std::vector<std::pair<std::string, Tensor>>> read_npz(const std::string& path, uint64_t limit = UINT64_MAX);
void read_npz(internal::ListOfNames, uint64_t = UINT64_MAX) = delete;

/// The same for the content of a file; `name` is for error messages.
Result<std::vector<std::pair<std::string, Tensor>>> read_npz(std::span<const std::byte> content, std::string_view name,
                                                             uint64_t limit = UINT64_MAX);

}  // namespace headpond
