// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/labelled_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A dot and the extension, which may be given with its dot.
bool has_extension(std::string_view name, std::string_view extension) {
  if (extension.starts_with('.')) extension.remove_prefix(1);
  if (name.size() <= extension.size() || name[name.size() - extension.size() - 1] != '.') return false;
  return std::ranges::equal(name.substr(name.size() - extension.size()), extension, {}, lower, lower);
}

bool is_wanted(std::string_view name, std::span<const std::string> extensions) {
  return extensions.empty() ||
         std::ranges::any_of(extensions, [&](const std::string& one) { return has_extension(name, one); });
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

Result<void> collect_files(const std::string& folder, std::span<const internal::FolderEntry> entries, int64_t label,
                           std::span<const std::string> extensions, std::vector<LabelledFile>& files) {
  const auto opened = internal::open_file(folder, O_RDONLY | O_DIRECTORY);
  if (!opened) return fail(opened.error());
  for (const internal::FolderEntry& entry : entries) {
    if (entry.is_folder || !is_wanted(entry.name, extensions)) continue;
    std::string path = joined(folder, entry.name);
    const auto size = internal::size_unless_folder_in(*opened, entry.name.c_str(), path);
    if (!size) return fail(size.error());
    if (*size) files.push_back({std::move(path), label, **size});
  }
  return {};
}

Result<void> collect(const std::string& folder, int64_t label, std::span<const std::string> extensions,
                     std::vector<LabelledFile>& files) {
  const auto all = internal::list_folder(folder);
  if (!all) return fail(all.error());
  HEADPOND_TRY(collect_files(folder, *all, label, extensions, files));
  for (const internal::FolderEntry& entry : *all) {
    if (entry.is_folder) HEADPOND_TRY(collect(joined(folder, entry.name), label, extensions, files));
  }
  return {};
}

}  // namespace

Result<LabelledFolder> list_labelled_folder(const std::string& root, std::span<const std::string> extensions) {
  const auto all = internal::list_folder(root);
  if (!all) return fail(all.error());
  LabelledFolder found;
  for (const internal::FolderEntry& entry : *all) {
    if (entry.is_folder) found.classes.push_back(entry.name);
  }
  std::ranges::sort(found.classes);
  for (const std::string& name : found.classes) {
    const auto label = &name - found.classes.data();
    const auto first = std::ssize(found.files);
    HEADPOND_TRY(collect(joined(root, name), label, extensions, found.files));
    std::sort(found.files.begin() + first, found.files.end(),
              [](const LabelledFile& a, const LabelledFile& b) { return a.path < b.path; });
  }
  if (found.classes.empty()) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{} has no folder whose name could be a label", root));
  }
  return found;
}

}  // namespace headpond
