// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "headpond/dataset/ops/order/cache_places_internal.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kMostPlacesBytes = 1 << 20;
constexpr std::string_view kSameFiles = " same\n", kOtherFiles = " other\n";

// What a cache's file says of files: same, if they are those that it was made of.
enum class SeenFiles : uint8_t { nothing, same, other };

SeenFiles look_for_files(const std::string& text, const FilePlaces& files) {
  const std::string place = fmt::format("at={} ", files.at), line = fmt::format("{}changed={}", place, files.changed);
  bool differs = false;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto one = std::string_view(text).substr(begin, end + 1 - begin);
    const bool is_same = one.ends_with(kSameFiles);
    if (one.starts_with(line)) return is_same ? SeenFiles::same : SeenFiles::other;
    differs = differs || !is_same || one.starts_with(place);
  }
  return differs ? SeenFiles::other : SeenFiles::nothing;
}

}  // namespace

CachePlan plan_of_files(const std::string& folder, CachePlan plan, const FilePlaces& files) {
  if (files.at.empty()) return plan;
  const std::string own = fmt::format("{}/{}", folder, cache_name(plan.text));
  const std::string path = fmt::format("{}/{}", own, kCacheFilesFile);
  const auto bytes = read_file(path, kMostPlacesBytes);
  const std::string text = bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
  const SeenFiles found = look_for_files(text, files);
  const std::string line = fmt::format("at={} changed={}", files.at, files.changed);
  const std::string known = line + std::string(found == SeenFiles::other ? kOtherFiles : kSameFiles);
  if (text.find(known) == std::string::npos && make_folders(own)) {
    if (auto file = FileAppender::open(path)) (void)file->append(known);
  }
  if (found == SeenFiles::other) plan.text += fmt::format("# files that changed: {}\n", line);
  return plan;
}

}  // namespace headpond::internal
