// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/locked_file.h"
#include "headpond/train/loop/manifest_internal.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kOld = ".old";  // After the hidden name of one that is being replaced.

Error not_whole(const std::string& path, const std::string& what) {
  return {ErrorKind::DataLoss, fmt::format("{}: {}", path, what)};
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The step in "checkpoint-<step>"; nothing for another name.
std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool is_step = error == std::errc() && end == name.data() + name.size() && step >= 0;
  return is_step && std::to_string(step) == name ? std::optional(step) : std::nullopt;
}

// The names in a folder; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  return names;
}

// Missing parts of a checkpoint are damage.
Result<std::vector<std::byte>> read_part(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes && bytes.error().kind() == ErrorKind::NotFound) return fail(not_whole(path, "the file is missing"));
  return bytes;
}

Result<void> write_part(const std::string& path, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return write_file_atomically(path, {bytes});
}

void remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log(LogLevel::warning, fmt::format("cannot remove {}: {}", path, error.message()));
}

}  // namespace

Result<Checkpoint> read_checkpoint(const std::string& path) {
  const std::string manifest_path = fmt::format("{}/{}", path, internal::kManifest);
  const auto text = read_part(manifest_path);
  if (!text) return fail(text.error());
  auto manifest = internal::parse_manifest(text_of(*text), manifest_path);
  if (!manifest) return fail(manifest.error());
  Checkpoint checkpoint{.facts = std::move(manifest->facts), .files = {}};
  for (const auto& [name, size, crc] : manifest->files) {
    const std::string file = fmt::format("{}/{}", path, name);
    const auto bytes = read_part(file);
    if (!bytes) return fail(bytes.error());
    if (bytes->size() != size)
      return fail(not_whole(file, fmt::format("expected {} bytes, found {}", size, bytes->size())));
    if (const uint32_t found = crc32c(*bytes); found != crc)
      return fail(not_whole(file, fmt::format("expected CRC-32C {:08x}, found {:08x}", crc, found)));
    checkpoint.files.emplace(name, text_of(*bytes));
  }
  return checkpoint;
}

struct CheckpointFolder::State {
  State(std::string with_path, LockedFile with_lock) : path(std::move(with_path)), lock(std::move(with_lock)) {}
  std::string at(int64_t step) const { return fmt::format("{}/{}{}", path, kPrefix, step); }
  std::string hidden(int64_t step) const { return fmt::format("{}/.{}{}.{}", path, kPrefix, step, ::getpid()); }
  // Renamed first: a kill while it is emptied leaves no checkpoint that is not whole.
  Result<void> remove(int64_t step) const {
    const std::string removed = hidden(step) + ".removed";
    HEADPOND_TRY(rename_file(at(step), removed));
    remove_all(removed);
    return {};
  }
  std::string old(int64_t step) const { return fmt::format("{}{}", hidden(step), kOld); }
  Result<void> replace(int64_t step, const std::string& with) const;
  Result<int64_t> write_into(const std::string& folder, const Checkpoint& checkpoint) const;

  const std::string path;
  const LockedFile lock;
  std::set<int64_t> not_whole;  // Steps that newest() found damaged.
};

Result<int64_t> CheckpointFolder::State::write_into(const std::string& folder, const Checkpoint& checkpoint) const {
  HEADPOND_TRY(make_folders(folder));
  internal::Manifest manifest{.facts = checkpoint.facts, .files = {}};
  int64_t bytes = 0;
  for (const auto& [name, content] : checkpoint.files) {
    HEADPOND_TRY(write_part(fmt::format("{}/{}", folder, name), content));
    manifest.files.push_back({name, content.size(), crc32c(content)});
    bytes += static_cast<int64_t>(content.size());
  }
  const std::string text = internal::manifest_text(manifest);
  HEADPOND_TRY(write_part(fmt::format("{}/{}", folder, internal::kManifest), text));
  HEADPOND_TRY(replace(checkpoint.facts.step, folder));
  return bytes + static_cast<int64_t>(text.size());
}

// One of the same step stays until the new one has its name.
Result<void> CheckpointFolder::State::replace(int64_t step, const std::string& with) const {
  std::error_code ignored;
  const bool is_there = fs::exists(at(step), ignored);
  if (is_there) {
    if (auto moved = rename_file(at(step), old(step)); !moved) {
      fs::rename(old(step), at(step), ignored);  // Perhaps only the sync failed.
      return moved;
    }
  }
  auto renamed = rename_file(with, at(step));
  if (!renamed && !fs::exists(with, ignored)) fs::rename(at(step), with, ignored);  // Only the sync failed.
  if (!renamed && is_there) fs::rename(old(step), at(step), ignored);
  if (renamed && is_there) remove_all(old(step));
  return renamed;
}

namespace {

// A kill came while "checkpoint-<step>" was replaced: the old one has its name again, unless the new one has it.
void put_back(const std::string& folder, const std::string& hidden) {
  const std::string name = hidden.substr(1, hidden.find('.', 1) - 1);
  const std::string to = fmt::format("{}/{}", folder, name);
  std::error_code error;
  if (!hidden.ends_with(kOld) || !step_of(name) || fs::exists(to, error)) return;
  if (auto renamed = rename_file(fmt::format("{}/{}", folder, hidden), to); !renamed)
    log(LogLevel::warning, renamed.error().message());
}

}  // namespace

Result<CheckpointFolder> CheckpointFolder::open(const std::string& path) {
  HEADPOND_TRY(make_folders(path));
  auto lock = LockedFile::open(path + "/.lock");
  if (!lock) return fail(lock.error());
  std::error_code error;
  for (const std::string& name : names_in(path, error)) {
    if (!name.starts_with(fmt::format(".{}", kPrefix))) continue;
    put_back(path, name);
    remove_all(fmt::format("{}/{}", path, name));
  }
  return CheckpointFolder(std::make_unique<State>(path, std::move(*lock)));
}

CheckpointFolder::CheckpointFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
CheckpointFolder::CheckpointFolder(CheckpointFolder&& other) noexcept = default;
CheckpointFolder& CheckpointFolder::operator=(CheckpointFolder&& other) noexcept = default;
CheckpointFolder::~CheckpointFolder() = default;
const std::string& CheckpointFolder::path() const { return state_->path; }

Result<std::vector<int64_t>> CheckpointFolder::steps() const {
  std::error_code error;
  std::vector<int64_t> steps;
  for (const std::string& name : names_in(path(), error)) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  }
  if (error) return fail(file_error("list", path(), error.value()));
  std::sort(steps.begin(), steps.end());
  return steps;
}

Result<std::optional<Checkpoint>> CheckpointFolder::newest() const {
  const auto all = steps();
  if (!all) return fail(all.error());
  Error last;
  for (auto step = all->rbegin(); step != all->rend(); ++step) {
    auto checkpoint = read_checkpoint(state_->at(*step));
    if (checkpoint && checkpoint->facts.step == *step) return std::optional(std::move(*checkpoint));
    last = checkpoint ? not_whole(state_->at(*step), fmt::format("its manifest is of step {}", checkpoint->facts.step))
                      : checkpoint.error();
    if (last.kind() != ErrorKind::DataLoss) return fail(last);
    state_->not_whole.insert(*step);
    log(LogLevel::warning, fmt::format("a checkpoint is not whole, so the one before it is used: {}", last.message()));
  }
  if (!last) return std::optional<Checkpoint>();
  return fail(Error(ErrorKind::DataLoss,
                    fmt::format("{}: none of its {} checkpoints is whole; from_scratch (--from-scratch) "
                                "begins anew without them",
                                path(), all->size()),
                    last));
}

Result<int64_t> CheckpointFolder::write(const Checkpoint& checkpoint) {
  const int64_t step = checkpoint.facts.step;
  if (step < 0) return fail(ErrorKind::InvalidArgument, fmt::format("a checkpoint of step {}", step));
  const std::string folder = state_->hidden(step);
  auto bytes = state_->write_into(folder, checkpoint);
  if (!bytes) remove_all(folder);
  if (bytes) state_->not_whole.erase(step);
  return bytes;
}

void CheckpointFolder::keep(int64_t most, std::optional<int64_t> best) {
  const auto all = steps();
  if (!all) return log(LogLevel::warning, all.error().message());
  int64_t kept = 0;
  for (auto step = all->rbegin(); step != all->rend(); ++step) {
    if (kept < std::max<int64_t>(most, 1)) {
      if (!state_->not_whole.contains(*step)) ++kept;
    } else if (*step != best) {
      if (auto removed = state_->remove(*step); !removed) log(LogLevel::warning, removed.error().message());
    }
  }
}

Result<void> CheckpointFolder::clear() {
  const auto all = steps();
  if (!all) return fail(all.error());
  for (const int64_t step : *all) HEADPOND_TRY(state_->remove(step));
  return {};
}

}  // namespace headpond
