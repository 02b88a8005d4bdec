// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/source/slices_in_files.h"
#include "headpond/dataset/source/slices_internal.h"

namespace headpond {

namespace {

std::string described(const Tensor& tensor, const std::string& place) {
  constexpr size_t kMostEnd = 4096;
  if (place.empty()) return internal::facts_of(tensor);
  const std::span<const std::byte> all(tensor.data(), tensor.byte_size());
  return fmt::format("{}{}, {}, end crc32c {:08x}", name(tensor.dtype()), tensor.shape().to_string(), place,
                     crc32c(all.last(std::min(all.size(), kMostEnd))));
}

}  // namespace

Dataset internal::slices_in_files(const std::vector<std::pair<std::string, Tensor>>& tensors,
                                  const std::vector<std::string>& places) {
  std::string args;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [field, tensor] = tensors[i];
    args += fmt::format("{}{}={}", i == 0 ? "" : ", ", field.empty() ? "x" : field, described(tensor, places.at(i)));
  }
  return slices("from_tensor_slices", std::move(args), "from_tensor_slices", tensors);
}

Dataset from_tensor_slices(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  return internal::slices_in_files(tensors, std::vector<std::string>(tensors.size()));
}

Dataset from_tensor_slices(Tensor tensor) { return from_tensor_slices({{"", std::move(tensor)}}); }

}  // namespace headpond
