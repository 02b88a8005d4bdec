// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/cache_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/io/cache/cache_index_internal.h"
#include "headpond/io/cache/cache_store.h"
#include "headpond/io/cache/saved_dataset.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

using internal::CacheKey;
using internal::EntryKind;

constexpr uint64_t kMostPlanBytes = uint64_t{64} << 20;

template <class T>
std::optional<T> number_in(std::string_view text, int base) {
  T value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<CacheKey> key_from(std::string_view name) {
  const bool is_hex = name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!is_hex) return std::nullopt;
  return CacheKey{*number_in<uint64_t>(name.substr(16), 16), *number_in<uint64_t>(name.substr(0, 16), 16)};
}

/// The names in a folder, sorted.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return fail(file_error("read the folder", folder, error.value()));
  std::sort(names.begin(), names.end());
  return names;
}

bool is_index(const std::string& name) { return name.starts_with("index-"); }
bool is_part(const std::string& name) {
  // A plan file that a kill left half written has a name as ".plan.012345".
  return name == internal::kCachePlanFile || name == internal::kCacheFilesFile || name.starts_with(".plan.") ||
         name.starts_with("data-") || is_index(name);
}

void read_plan(const std::string& path, CacheInfo& info) {
  const auto content = read_file(path, kMostPlanBytes);
  if (!content) return;
  std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
  if (!text.starts_with(internal::kPlanFileStart)) return;
  text.remove_prefix(internal::kPlanFileStart.size());
  constexpr std::string_view kSlots = "slots=";
  const size_t end = text.find('\n');
  if (!text.starts_with(kSlots) || end == std::string_view::npos) return;
  const auto slots = number_in<int64_t>(text.substr(kSlots.size(), end - kSlots.size()), 10);
  text.remove_prefix(end + 1);
  if (!slots || internal::cache_name(text) != info.key) return;
  info.plan = std::string(text);
  info.slots = *slots;
}

// Counts the entries of one index file.
void count(const std::string& path, const std::string& name, const CacheKey& key, CacheInfo& info, int64_t& end_at) {
  const auto chunk = number_in<int64_t>(std::string_view(name).substr(6), 16);
  const auto content = read_file(path, internal::CacheIndex::kChunkEntries * internal::kEntryBytes);
  if (!chunk || *chunk < 0 || *chunk >= internal::kMostPositions >> internal::CacheIndex::kChunkBits || !content)
    return;
  for (size_t i = 0; (i + 1) * internal::kEntryBytes <= content->size(); ++i) {
    std::array<uint64_t, 4> words = {};
    std::memcpy(words.data(), content->data() + i * internal::kEntryBytes, internal::kEntryBytes);
    if (words[1] == 0) continue;
    const int64_t position = (*chunk << internal::CacheIndex::kChunkBits) + static_cast<int64_t>(i);
    const auto entry = internal::from_words(words, position, key);
    if (!entry) continue;
    info.elements += entry->kind == EntryKind::value ? 1 : 0;
    info.holes += entry->kind == EntryKind::hole ? 1 : 0;
    if (entry->kind == EntryKind::end) end_at = position;
  }
}

CacheInfo look_at(const std::string& path, const std::string& name, const CacheKey& key) {
  CacheInfo info{.key = name, .plan = {}};
  int64_t end_at = -1;
  for (const std::string& file : names_in(path).value_or(std::vector<std::string>())) {
    const std::string part = fmt::format("{}/{}", path, file);
    struct stat status = {};
    if (::stat(part.c_str(), &status) != 0) continue;
    info.bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    if (is_index(file)) count(part, file, key, info, end_at);
    if (file != internal::kCachePlanFile) continue;
    info.used_ns = internal::nanoseconds_since_1970(status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    read_plan(part, info);
  }
  const int64_t wanted = info.slots >= 0 ? info.slots : end_at;
  info.complete = !info.plan.empty() && wanted >= 0 && info.elements + info.holes == wanted;
  return info;
}

}  // namespace

Result<std::vector<CacheInfo>> list_caches(const std::string& folder) {
  const auto names = names_in(folder);
  if (!names) return fail(names.error());
  const auto saved = internal::read_saved(folder);
  if (!saved && saved.error().os_error() != 0 && saved.error().kind() != ErrorKind::NotFound) {
    return fail(saved.error());
  }
  const std::string of_saved = saved ? internal::cache_name(saved->plan().text) : "";
  std::vector<CacheInfo> caches;
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    std::error_code error;
    const auto key = name != of_saved ? key_from(name) : std::nullopt;
    if (key && std::filesystem::is_directory(path, error)) caches.push_back(look_at(path, name, *key));
  }
  return caches;
}

Result<void> remove_cache(const std::string& folder, const std::string& key) {
  const std::string path = folder + "/" + key;
  std::error_code error;
  if (!key_from(key) || !std::filesystem::is_directory(path, error)) {
    return fail(ErrorKind::NotFound, fmt::format("{}: there is no cache {}", folder, key));
  }
  const auto names = names_in(path);
  if (!names) return fail(names.error());
  const auto other = std::find_if_not(names->begin(), names->end(), is_part);
  if (other != names->end()) {
    return fail(ErrorKind::FailedPrecondition,
                fmt::format("{}/{} is no part of a cache: remove it first", path, *other));
  }
  // The plan, then the index, then what the index refers to.
  for (auto name = names->rbegin(); name != names->rend(); ++name) {
    const std::string part = path + "/" + *name;
    if (::unlink(part.c_str()) != 0 && errno != ENOENT) return fail(file_error("remove", part, errno));
  }
  if (::rmdir(path.c_str()) != 0) return fail(file_error("remove", path, errno));
  return {};
}

}  // namespace headpond
