// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/tar_file_internal.h"

namespace headpond {
namespace {

// The extensions of the first sample of all archives.
std::vector<std::string> extensions_of_first(const std::vector<std::string>& patterns) {
  std::vector<std::string> extensions;
  for (const std::string& path : internal::expand_or_throw("tar", patterns)) {
    const internal::TarFile archive(path, {}, false);
    if (archive.size() == 0) continue;
    for (const auto& part : value_or_throw(archive.samples().at(0)).parts) extensions.push_back(part.extension);
    break;
  }
  return extensions;
}

}  // namespace

Dataset tar(const Patterns& patterns, const TarOptions& options) {
  const std::vector<std::string> extensions =
      options.extensions.empty() ? extensions_of_first(patterns.all()) : options.extensions;
  const std::string label =
      fmt::format("extensions={}{}", fmt::join(extensions, " "), options.allow_missing ? ", allow_missing" : "");
  Node::Facts facts{.op = "tar", .args = label, .spec = {{"__key__", DType::bytes, {}}}};
  for (const std::string& extension : extensions) facts.spec.push_back({extension, DType::bytes, {}});
  check_names("tar", facts.spec);
  const auto open = [extensions, allow_missing = options.allow_missing](const std::string& path,
                                                                        std::shared_ptr<const RecordIndex> known) {
    return std::make_unique<internal::TarFile>(path, extensions, allow_missing, std::move(known));
  };
  return internal::source_files(std::move(facts),
                                {.reader = label, .patterns = patterns.all(), .open = open, .checks_neighbours = true});
}

}  // namespace headpond
