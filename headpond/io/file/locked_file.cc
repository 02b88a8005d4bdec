// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/file/locked_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <span>
#include <thread>
#include <utility>

#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"

namespace headpond {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{20};

}  // namespace

class LockedFile::State {
 public:
  State(internal::UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<std::string> text() const {
    HEADPOND_TRY(check_name());
    const auto bytes = read_file(path_);
    if (!bytes) return fail(bytes.error());
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }

  Result<void> replace(std::string_view text) {
    HEADPOND_TRY(check_name());
    HEADPOND_TRY(internal::truncate_file(file_, 0, path_));
    HEADPOND_TRY(append(text));
    const auto folder = std::filesystem::path(path_).parent_path();
    return internal::sync_folder(folder.empty() ? "." : folder.string());
  }

  Result<void> append(std::string_view text) {
    HEADPOND_TRY(check_name());
    HEADPOND_TRY(internal::write_all(file_, std::as_bytes(std::span(text)), path_));
    return internal::sync_file(file_, path_);
  }

 private:
  // Another process may have removed the file, created another one of its name, and locked that.
  Result<void> check_name() const {
    const auto mine = internal::examine(file_, path_);
    if (!mine) return fail(mine.error());
    const auto named = internal::examine_path(path_);
    if (named && named->is_same_file(*mine)) return {};
    if (!named && named.error().kind() != ErrorKind::NotFound) return fail(named.error());
    return fail(ErrorKind::FailedPrecondition, fmt::format("{}: removed or replaced while it was locked", path_));
  }

  const internal::UniqueFd file_;  // Opened for appending.
  const std::string path_;
};

LockedFile::LockedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LockedFile::LockedFile(LockedFile&& other) noexcept = default;
LockedFile& LockedFile::operator=(LockedFile&& other) noexcept = default;
LockedFile::~LockedFile() = default;

Result<std::optional<LockedFile>> LockedFile::try_open(const std::string& path) {
  auto file = internal::open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK);
  if (!file) return fail(std::move(file).error());
  HEADPOND_TRY(internal::regular_file_size(*file, path));
  const auto lock = internal::try_lock_file(*file, path);
  if (!lock) return fail(lock.error());
  if (*lock == internal::LockState::elsewhere) return std::nullopt;
  return LockedFile(std::make_unique<State>(std::move(*file), path));
}

Result<LockedFile> LockedFile::open(const std::string& path) {
  auto file = try_open(path);
  if (!file) return fail(std::move(file).error());
  if (!*file) return fail(ErrorKind::FailedPrecondition, fmt::format("{}: locked by another writer", path));
  return std::move(**file);
}

Result<LockedFile> LockedFile::wait_for(const std::string& path, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    auto file = try_open(path);
    if (!file) return fail(std::move(file).error());
    if (*file) return std::move(**file);
    std::this_thread::sleep_for(kBetweenTries);
  }
  return fail(ErrorKind::Cancelled, fmt::format("{}: another writer still has its lock", path));
}

Result<std::string> LockedFile::text() const { return state_->text(); }
Result<void> LockedFile::replace(std::string_view text) { return state_->replace(text); }
Result<void> LockedFile::append(std::string_view text) { return state_->append(text); }

}  // namespace headpond
