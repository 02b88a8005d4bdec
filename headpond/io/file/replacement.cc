// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "headpond/io/file/file.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/io/file/replacement_internal.h"

namespace headpond {

Result<ReplacedFile> find_replaced(const std::string& path) {
  constexpr int kMostLinks = 40;  // The limit of Linux.
  ReplacedFile found = {path, {}, false};
  const auto mode = internal::mode_of(path);  // Before links are read: those in /proc name no path.
  if (!mode) return fail(mode.error());
  if (*mode && S_ISREG(**mode)) found.mode = **mode & 0777;
  found.is_special = *mode && !S_ISREG(**mode) && !S_ISDIR(**mode);
  if (found.is_special) return found;
  for (int links = 0;; ++links) {
    const auto link = internal::read_link(found.path);
    if (!link) return fail(link.error());
    if (!*link) break;
    if (links == kMostLinks) return fail(file_error("open", path, ELOOP));
    found.path = (std::filesystem::path(found.path).parent_path() / **link).string();
  }
  return found;
}

namespace internal {
namespace {

using Pieces = std::span<const std::span<const std::byte>>;

// Neighbours of together at most so many bytes are written with one call.
Result<void> write_pieces(const Replacement& to, Pieces pieces, size_t together) {
  std::vector<std::byte> small;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (small.size() + pieces[i].size() <= together) {
      small.insert(small.end(), pieces[i].begin(), pieces[i].end());
      continue;
    }
    HEADPOND_TRY(write_all(to.file, small, to.written()));
    small.clear();
    HEADPOND_TRY(write_all(to.file, pieces[i], to.written()));
  }
  return write_all(to.file, small, to.written());
}

Result<void> fill_and_rename(Replacement& to, Pieces pieces, size_t together, bool is_synced) {
  HEADPOND_TRY(write_pieces(to, pieces, together));
  if (is_synced) HEADPOND_TRY(sync_file(to.file, to.written()));
  HEADPOND_TRY(close_file(to.file, to.written()));
  return to.commit();
}

}  // namespace

Result<Replacement> make_replacement(const std::string& path) {
  auto replaced = find_replaced(path);
  if (!replaced) return fail(std::move(replaced).error());
  if (replaced->is_special) {
    auto file = open_file(path, O_WRONLY);
    if (!file) return fail(std::move(file).error());
    return Replacement{std::move(*file), {}, path};
  }
  const std::filesystem::path target(replaced->path);
  std::string temp = (target.parent_path() / fmt::format(".{}.XXXXXX", target.filename().string())).string();
  auto file = make_unique_file(temp);
  if (!file) return fail(std::move(file).error());
  if (replaced->mode) {
    if (const auto changed = change_mode(*file, *replaced->mode, temp); !changed) {
      ::unlink(temp.c_str());
      return fail(changed.error());
    }
  }
  return Replacement{std::move(*file), std::move(temp), std::move(replaced->path)};
}

Result<void> Replacement::commit() {
  if (is_special()) return {};
  return rename_path(temp, target);
}

void Replacement::drop() const {
  if (!is_special()) ::unlink(temp.c_str());
}

Result<void> replace_file(const std::string& path, Pieces pieces, size_t together, bool is_synced) {
  auto replacement = make_replacement(path);
  if (!replacement) {
    return fail(Error(replacement.error().kind(), fmt::format("cannot write {}", path), replacement.error()));
  }
  if (auto done = fill_and_rename(*replacement, pieces, together, is_synced); !done) {
    replacement->drop();
    return fail(Error(done.error().kind(), fmt::format("cannot write {}", path), done.error()));
  }
  if (replacement->is_special() || !is_synced) return {};
  const auto folder = std::filesystem::path(replacement->target).parent_path();
  return sync_folder(folder.empty() ? "." : folder.string());
}

}  // namespace internal
}  // namespace headpond
