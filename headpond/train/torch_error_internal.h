// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

#include "headpond/base/status.h"

namespace headpond::internal {

/// current_exception_error(), but of an error of libtorch without the stack, which what() has. REQUIRES: an exception
/// is being handled.
inline Error torch_exception_error() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return {ErrorKind::Unknown, error.what_without_backtrace()};
  } catch (...) {
    return current_exception_error();
  }
}

}  // namespace headpond::internal
