// SPDX-License-Identifier: Apache-2.0
// Errors with the name of their file.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "headpond/base/status.h"

namespace headpond::internal {

/// Says that there is no memory at this moment: like the error of std::bad_alloc it is transient, whatever data it came
/// from.
inline Error no_memory(std::string message) {
  return Error::of_system(ErrorKind::ResourceExhausted, std::move(message), ENOMEM);
}

/// current_exception_error() with the file's name in front, if there is memory for that. REQUIRES: called inside a
/// catch block.
inline Error exception_error_of(std::string_view name) {
  Error error = current_exception_error();
  try {
    return {error.kind(), fmt::format("{}: {}", name, error.message()), error};
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
