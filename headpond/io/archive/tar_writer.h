// SPDX-License-Identifier: Apache-2.0
// Writes tar archives (docs/formats/tar.md) whose bytes follow from names and contents alone: ustar, pax only where a
// name or a size needs it; mode 0644, no owner, time 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

/// What stands before the content of a member: one block of 512 bytes, or three and more. InvalidArgument iff `name` is
/// empty, holds a NUL, ends with a slash or has more than 4096 bytes, or `size` is above 2^63 - 1: what a reader
/// refuses unless told otherwise (TarLimits).
Result<std::string> tar_header(std::string_view name, uint64_t size);
/// The zeros behind the content of a member of `size` bytes.
std::string_view tar_padding(uint64_t size);
/// What stands behind the last member.
std::string_view tar_end();

/// Header, content and padding behind what `archive` holds. As tar_header.
Result<void> append_tar_member(std::string& archive, std::string_view name, std::string_view content);

}  // namespace headpond
