// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/source/slices_internal.h"

namespace headpond {

Dataset from_tensor_slices(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::string args;
  for (const auto& [name, tensor] : tensors) {
    args += fmt::format("{}{}={}", args.empty() ? "" : ", ", name.empty() ? "x" : name, internal::facts_of(tensor));
  }
  return internal::slices("from_tensor_slices", std::move(args), "from_tensor_slices", tensors);
}

Dataset from_tensor_slices(Tensor tensor) { return from_tensor_slices({{"", std::move(tensor)}}); }

}  // namespace headpond
