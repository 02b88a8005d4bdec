// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/temp_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstdlib>
#include <system_error>

#include "headpond/base/status.h"

namespace headpond::cli {
namespace {

constexpr size_t kRandomLetters = 6;

std::string prefix_of(const std::string& name) { return fmt::format("headpond-bench-{}-", name); }

// Has none if another program has it, or the folder has gone.
internal::UniqueFd locked(const std::string& folder) {
  internal::UniqueFd open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open || ::flock(open.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat held = {}, named = {};
  const bool is_it = ::fstat(open.get(), &held) == 0 && ::stat(folder.c_str(), &named) == 0 &&
                     held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  return is_it ? std::move(open) : internal::UniqueFd();
}

void remove_with_all(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void remove_left(const std::filesystem::path& parent, const std::string& prefix) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + kRandomLetters) continue;
    if (const auto lock = locked(at->path().string())) remove_with_all(at->path());
  }
}

std::string made(const std::filesystem::path& parent, const std::string& prefix, internal::UniqueFd& lock) {
  remove_left(parent, prefix);
  // Another program may have taken it for one that was left, before it was locked.
  for (int tries = 3; tries > 0; --tries) {
    std::string path = (parent / (prefix + std::string(kRandomLetters, 'X'))).string();
    if (mkdtemp(path.data()) == nullptr)
      throw Exception(Error(ErrorKind::FailedPrecondition, path + ": cannot make it"));
    lock = locked(path);
    if (lock) return path;
  }
  throw Exception(Error(ErrorKind::FailedPrecondition, parent.string() + ": a folder in it cannot be locked"));
}

}  // namespace

TempFolder::TempFolder(const std::string& name, const std::filesystem::path& parent)
    : path(made(parent, prefix_of(name), lock_)) {}
TempFolder::~TempFolder() { remove_with_all(path); }

}  // namespace headpond::cli
