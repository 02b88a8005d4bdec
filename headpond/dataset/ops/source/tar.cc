// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/field_internal.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/tar_file_internal.h"

namespace headpond {

Dataset tar(const Patterns& patterns, const TarOptions& options) {
  const std::vector<std::string> paths = internal::expand_or_throw("tar", patterns.all());
  std::vector<std::unique_ptr<internal::TarFile>> archives;
  std::vector<std::string> extensions = options.extensions;
  for (const std::string& path : paths) {
    archives.push_back(std::make_unique<internal::TarFile>(path, archives.empty() ? nullptr : archives.back().get()));
    if (!extensions.empty() || archives.back()->samples().empty()) continue;
    for (const auto& part : archives.back()->samples()[0].parts) extensions.push_back(part.extension);
  }
  const std::string label = internal::files_label(patterns.all(), paths);
  Node::Facts facts{.op = "tar",
                    .args = fmt::format("{}, extensions={}{}", label, fmt::join(extensions, " "),
                                        options.allow_missing ? ", allow_missing" : "")};
  facts.spec = {{"__key__", DType::bytes, {}}};
  for (const std::string& extension : extensions) facts.spec.push_back({extension, DType::bytes, {}});
  internal::check_names("tar", facts.spec);
  std::vector<internal::NamedSourceFile> files;
  for (size_t i = 0; i < paths.size(); ++i) {
    archives[i]->set_extensions(extensions, options.allow_missing);
    files.push_back({paths[i], std::move(archives[i])});
  }
  return internal::source_files(std::move(facts), std::move(files));
}
}  // namespace headpond
