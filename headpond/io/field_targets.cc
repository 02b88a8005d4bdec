// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/io/field_targets_internal.h"

namespace headpond::internal {

Result<void> FieldTargets::check(size_t fields) const {
  for (const size_t given : {targets.size(), out.size()}) {
    if (given != 0 && given != fields) {
      return fail(ErrorKind::InvalidArgument, fmt::format("{} targets or tensors for {} fields", given, fields));
    }
  }
  return {};
}

Result<void> FieldTargets::give(size_t field, Tensor tensor) const {
  if (out.empty()) {
    return fail(ErrorKind::InvalidArgument, fmt::format("field {} needs a tensor: it has no target", field));
  }
  out[field] = std::move(tensor);
  return {};
}

}  // namespace headpond::internal
