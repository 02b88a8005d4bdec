// SPDX-License-Identifier: Apache-2.0
// Writes tar archives (docs/formats/tar.md) whose bytes depend on names and contents only: ustar, pax only where a name
// or a size requires it; mode 0644, no owner, time 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

/// The header of a member: one block of 512 bytes, or three and more. InvalidArgument iff `name` is empty, has a NUL,
/// ends with a slash or has more than 4096 bytes (TarReader's default limit), or `size` is above 2^63 - 1.
Result<std::string> tar_header(std::string_view name, uint64_t size);
/// The zeros after the content of a member of `size` bytes.
std::string_view tar_padding(uint64_t size);
/// The end of an archive, after the last member.
std::string_view tar_end();

/// Appends header, content and padding to `archive`. Errors as tar_header().
Result<void> append_tar_member(std::string& archive, std::string_view name, std::string_view content);

}  // namespace headpond
