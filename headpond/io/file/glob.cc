// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/glob.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/io/file/system_internal.h"
#include "headpond/io/named_error_internal.h"

namespace headpond {
namespace {

constexpr uint64_t kMostShards = 1'000'000;

// glob(3) passes no pointer to its callbacks.
thread_local std::optional<Error> g_unreadable;
thread_local bool g_has_read = false, g_has_others = false;  // Entries; ones that may not be regular files.
thread_local const char* g_folder = "";                      // The one that is read: glob(3) reads one after the other.

// Decides by itself, because GLOB_ERR would also end the search at a folder that vanished.
int on_unreadable(const char* path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) return 0;
  try {
    g_unreadable = internal::system_error("read the folder", path, error_number);
  } catch (const std::bad_alloc&) {  // An exception would leak the memory of glob(3).
    g_unreadable = current_exception_error();
  }
  return 1;
}

void note(const dirent& entry) {
  const std::string_view name = entry.d_name;
  g_has_read = true;
  g_has_others = g_has_others || (entry.d_type != DT_REG && name != "." && name != "..");
}

bool is_folder(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// glob(3) takes an error of readdir(3) for the end of the folder: that of a network file system would leave out files.
void read_with_errors(glob_t& search) {
  search.gl_opendir = [](const char* path) -> void* {
    g_folder = path;
    return ::opendir(path);
  };
  search.gl_readdir = [](void* folder) -> dirent* {
    errno = internal::injected_error("readdir");
    dirent* const entry = errno == 0 ? ::readdir(static_cast<DIR*>(folder)) : nullptr;
    if (entry == nullptr && errno != 0) (void)on_unreadable(g_folder, errno);
    if (entry != nullptr) note(*entry);
    return entry;
  };
  search.gl_closedir = [](void* folder) { (void)::closedir(static_cast<DIR*>(folder)); };
  search.gl_lstat = [](const char* path, struct stat* status) { return ::lstat(path, status); };
  search.gl_stat = [](const char* path, struct stat* status) { return ::stat(path, status); };
}

Result<std::vector<std::string>> matches(const std::string& pattern) {
  g_unreadable.reset();
  g_has_read = g_has_others = false;
  glob_t found = {};
  read_with_errors(found);
  const std::unique_ptr<glob_t, void (*)(glob_t*)> freed_later(&found, ::globfree);
  const int answer = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ALTDIRFUNC, on_unreadable, &found);
  if (const auto unreadable = std::exchange(g_unreadable, std::nullopt)) return fail(*unreadable);
  const bool must_look = !g_has_read || g_has_others;  // Not where the folders said that all entries are files.
  std::vector<std::string> files;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    std::string path = found.gl_pathv[i];
    if (path.back() != '/' && !(must_look && is_folder(path))) files.push_back(std::move(path));
  }
  if (answer == GLOB_NOSPACE) return fail(internal::no_memory(fmt::format("{}: no memory to list it", pattern)));
  if (files.empty()) return fail(ErrorKind::NotFound, fmt::format("no file matches {}", pattern));
  std::sort(files.begin(), files.end());
  return files;
}

// Names by '*' and '?' in one folder, which glob(3) finds in twice the time.
bool is_of_one_folder(const std::string& pattern) {
  const size_t name = pattern.rfind('/') + 1;
  return pattern.find_first_of("[\\") == std::string::npos && pattern.find_first_of("*?") >= name;
}

Result<std::vector<std::string>> matches_in_folder(const std::string& pattern) {
  const size_t name = pattern.rfind('/') + 1;
  const std::string before = pattern.substr(0, name);
  const std::string folder = name == 0 ? "." : name == 1 ? "/" : pattern.substr(0, name - 1);
  std::vector<std::string> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  int error = opened == nullptr ? errno : 0;
  while (error == 0) {
    errno = internal::injected_error("readdir");
    const dirent* const entry = errno == 0 ? ::readdir(opened.get()) : nullptr;
    if (entry == nullptr) {
      error = errno;
      break;
    }
    if (::fnmatch(&pattern[name], entry->d_name, FNM_PERIOD) != 0) continue;
    std::string path = before + entry->d_name;
    const bool is_other = entry->d_type == DT_DIR || (entry->d_type != DT_REG && is_folder(path));
    if (!is_other) files.push_back(std::move(path));
  }
  if (error != 0 && error != ENOENT && error != ENOTDIR) {
    return fail(internal::system_error("read the folder", folder, error));
  }
  if (files.empty()) return fail(ErrorKind::NotFound, fmt::format("no file matches {}", pattern));
  std::sort(files.begin(), files.end());
  return files;
}

// The N of name@N.
std::optional<std::string> shard_number(const std::string& pattern) {
  const size_t at = pattern.rfind('@');
  if (at == std::string::npos || at == 0 || at + 1 == pattern.size()) return std::nullopt;
  std::string digits = pattern.substr(at + 1);
  const bool is_number = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional(digits) : std::nullopt;
}

Result<std::vector<std::string>> shards(const std::string& pattern, const std::string& digits) {
  const uint64_t count = digits.size() > 7 ? UINT64_MAX : std::stoull(digits);
  if (count == 0 || count > kMostShards) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: 1 to {} shards expected", pattern, kMostShards));
  }
  const std::string name = pattern.substr(0, pattern.size() - digits.size() - 1);
  std::vector<std::string> files;
  files.reserve(count);
  for (uint64_t i = 0; i < count; ++i) files.push_back(fmt::format("{}-{:05}-of-{:05}", name, i, count));
  return files;
}

}  // namespace

Result<std::vector<std::string>> expand_files(const std::string& pattern) {
  if (pattern.empty()) return fail(ErrorKind::InvalidArgument, "a file name is empty");
  if (pattern.find('\0') != std::string::npos) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: a zero byte in a file name", pattern.c_str()));
  }
  if (::access(pattern.c_str(), F_OK) == 0) return std::vector<std::string>{pattern};
  if (pattern.find_first_of("*?[") != std::string::npos) {
    return is_of_one_folder(pattern) ? matches_in_folder(pattern) : matches(pattern);
  }
  if (const auto digits = shard_number(pattern)) return shards(pattern, *digits);
  return std::vector<std::string>{pattern};
}

Result<std::vector<std::string>> expand_files(std::span<const std::string> patterns) {
  std::vector<std::string> all;
  for (const std::string& pattern : patterns) {
    auto files = expand_files(pattern);
    if (!files) return files;
    std::move(files->begin(), files->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace headpond
