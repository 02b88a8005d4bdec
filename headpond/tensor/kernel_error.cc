// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/kernel_error.h"

#include <fmt/format.h>

namespace headpond {

std::string with_title(const Kernel& kernel, std::string_view message) {
  const std::string& title = kernel.facts().title;
  const std::string own = title.substr(0, title.find('(')) + ": ";
  if (message.starts_with(own)) message.remove_prefix(own.size());
  return fmt::format("{}: {}", title, message);
}

}  // namespace headpond
