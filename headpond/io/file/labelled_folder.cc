// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/labelled_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

bool is_wanted(const std::string& name, std::span<const std::string> extensions) {
  if (extensions.empty()) return true;
  return std::any_of(extensions.begin(), extensions.end(), [&](const std::string& extension) {
    const std::string_view dot = extension.starts_with('.') ? "" : ".";
    return lower(name).ends_with(fmt::format("{}{}", dot, lower(extension)));
  });
}

// The entries of a folder without hidden ones, sorted by the bytes of their names.
Result<std::vector<fs::directory_entry>> entries(const std::string& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> all;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (!at->path().filename().string().starts_with('.')) all.push_back(*at);
  }
  if (error) return fail(internal::system_error("list", folder, error.value()));
  std::sort(all.begin(), all.end());
  return all;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_directory(ignored) && !entry.is_symlink(ignored);
}

Result<void> collect(const std::string& folder, int64_t label, std::span<const std::string> extensions,
                     std::vector<LabelledFile>& files) {
  const auto all = entries(folder);
  if (!all) return fail(all.error());
  for (const fs::directory_entry& entry : *all) {
    const std::string path = entry.path().string();
    std::error_code error;
    if (is_folder(entry)) {
      HEADPOND_TRY(collect(path, label, extensions, files));
    } else if (is_wanted(entry.path().filename().string(), extensions) && !entry.is_directory(error)) {
      const uint64_t size = entry.file_size(error);
      if (error) return fail(internal::system_error("examine", path, error.value()));
      files.push_back({path, label, size});
    }
  }
  return {};
}

}  // namespace

Result<LabelledFolder> list_labelled_folder(const std::string& root, std::span<const std::string> extensions) {
  const auto all = entries(root);
  if (!all) return fail(all.error());
  LabelledFolder found;
  for (const fs::directory_entry& entry : *all) {
    if (!is_folder(entry)) continue;
    const auto label = static_cast<int64_t>(found.classes.size());
    found.classes.push_back(entry.path().filename().string());
    const size_t first = found.files.size();
    HEADPOND_TRY(collect(entry.path().string(), label, extensions, found.files));
    std::sort(found.files.begin() + static_cast<std::ptrdiff_t>(first), found.files.end(),
              [](const LabelledFile& a, const LabelledFile& b) { return a.path < b.path; });
  }
  if (found.classes.empty()) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{} has no folder whose name could be a label", root));
  }
  return found;
}

}  // namespace headpond
