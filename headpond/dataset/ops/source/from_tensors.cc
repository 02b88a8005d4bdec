// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/source/slices_internal.h"

namespace headpond {
namespace {

// The tensor as the only row of another one, which keeps it alive.
Tensor as_row(const Tensor& tensor) {
  const auto kept = std::make_shared<const Tensor>(tensor);
  return Tensor::from_memory(kept->data(), kept->dtype(), kept->shape().stacked(1), [kept] {});
}

}  // namespace

Dataset from_tensors(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::string args;
  std::vector<std::pair<std::string, Tensor>> rows;
  for (const auto& [name, tensor] : tensors) {
    args += fmt::format("{}{}={}", args.empty() ? "" : ", ", name.empty() ? "x" : name, internal::facts_of(tensor));
    rows.emplace_back(name, as_row(tensor));
  }
  return internal::slices("from_tensors", std::move(args), "from_tensors", rows);
}

Dataset from_tensors(Tensor tensor) { return from_tensors({{"", std::move(tensor)}}); }

}  // namespace headpond
