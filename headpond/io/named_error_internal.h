// SPDX-License-Identifier: Apache-2.0
// Errors with the name of their file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond::internal {

/// current_exception_error() with the file's name in front, if there is memory for that. REQUIRES: called inside a
/// catch block.
inline Error exception_error_of(std::string_view name) {
  Error error = current_exception_error();
  try {
    return {error.kind(), fmt::format("{}: {}", name, error.message())};
  } catch (const std::bad_alloc&) {
    return error;
  }
}

/// The error of a record whose bytes cannot be read because of `cause`, whose message names the file: "cannot read
/// record 3 at offset 40: /x/a shrank while it was read: ...".
inline Error error_at_record(uint64_t record, uint64_t offset, const Error& cause) {
  return {cause.kind(), fmt::format("cannot read record {} at offset {}: {}", record, offset, cause.message()), cause};
}

}  // namespace headpond::internal
