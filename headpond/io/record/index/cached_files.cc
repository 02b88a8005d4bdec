// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>

#include "headpond/base/mutex.h"
#include "headpond/io/file/replacement_internal.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/index/cached_files_internal.h"

namespace headpond::internal {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kDayNs = int64_t{24} * 3600 * 1'000'000'000;

int64_t now_since_1970() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<void> write_cached(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  constexpr size_t kTogether = size_t{1} << 20;
  HEADPOND_TRY(make_folders(fs::path(path).parent_path().string()));
  HEADPOND_TRY(replace_file(path, pieces, kTogether, false));
  remove_unused_beside(path);
  return {};
}

void note_use(const std::string& path, int64_t modified_ns) {
  if (now_since_1970() - modified_ns < kDayNs) return;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

// What has the name is known for certain only once it has no name that others use.
void remove_cached(const std::string& path, uint64_t device, uint64_t inode) {
  const auto is_it = [&](const Result<FileFacts>& facts) { return facts && facts->is_same_file({device, inode}); };
  if (!is_it(examine_path(path))) return;
  const fs::path name(path);
  // After a kill remove_unused_beside() finds this name.
  std::string aside = (name.parent_path() / ("." + name.filename().string() + ".XXXXXX")).string();
  if (const auto made = make_unique_file(aside); !made) return;
  std::error_code ignored;
  if (rename_path(path, aside) && !is_it(examine_path(aside))) fs::create_hard_link(aside, path, ignored);
  fs::remove(aside, ignored);
}

void remove_unused_beside(const std::string& path) {
  static auto* const mu = new Mutex;  // Never destroyed: a dataset may be static.
  static auto* const seen = new std::set<std::string>;
  std::string folder = fs::path(path).parent_path().string();
  {
    const MutexLock lock(*mu);
    if (!seen->insert(folder).second) return;
  }
  remove_unused(folder);
}

void remove_unused(const std::string& folder) {
  std::error_code error;
  const int64_t oldest = now_since_1970() - unused_ns;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_unfinished = name.starts_with('.') && name.find(".index.") != std::string::npos;  // By a kill.
    if (!name.ends_with(".index") && !is_unfinished) continue;
    const auto facts = examine_path(at->path().string());
    if (facts && facts->modified_ns < oldest) remove_cached(at->path().string(), facts->device, facts->inode);
  }
}

}  // namespace headpond::internal
