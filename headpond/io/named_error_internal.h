// SPDX-License-Identifier: Apache-2.0
// Errors with the name of their file.
#pragma once

#include <fmt/format.h>

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

}  // namespace headpond::internal
