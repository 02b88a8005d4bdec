// SPDX-License-Identifier: Apache-2.0
// The text of a kernel's error. Not for users.
#pragma once

#include <string>
#include <string_view>

#include "headpond/tensor/kernel.h"

namespace headpond {

/// `message` after the kernel's title: "rotate(angle=1): takes uint8, not int16". A message that begins with the
/// kernel's name, as the function of the same name says it, "rotate: takes ...", doesn't repeat it.
std::string with_title(const Kernel& kernel, std::string_view message);

}  // namespace headpond
