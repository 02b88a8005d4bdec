// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/idx.h"

#include <fmt/format.h>

#include "headpond/dataset/ops/sources.h"
#include "headpond/dataset/source/slices_internal.h"
#include "headpond/dataset/source/source_files_internal.h"

namespace headpond {

Dataset idx(const std::string& images_path, const std::string& labels_path) {
  IdxPair pair = value_or_throw(read_idx_pair(images_path, labels_path));
  std::string args = internal::facts_of(pair.images) + ", " + internal::facts_of(pair.labels);
  return internal::slices("idx", std::move(args), images_path,
                          {{"image", std::move(pair.images)}, {"label", std::move(pair.labels)}},
                          fmt::format("'{}', '{}'", images_path, labels_path));
}

Dataset idx(const std::string& path) {
  Tensor tensor = value_or_throw(read_idx(path));
  std::string args = internal::facts_of(tensor);
  return internal::slices("idx", std::move(args), path, {{"", std::move(tensor)}}, fmt::format("'{}'", path));
}

}  // namespace headpond
