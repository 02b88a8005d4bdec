// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "headpond/base/status.h"

namespace headpond::codec_internal {

/// The exception that is being handled, with the file's name before its text. REQUIRES: called inside a catch block.
inline tl::unexpected<Error> fail_caught(std::string_view name) {
  const Error caught = current_exception_error();
  return fail(caught.kind(), fmt::format("{}: {}", name, caught.message()));
}

}  // namespace headpond::codec_internal
