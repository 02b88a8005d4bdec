// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "headpond/dataset/source/files_read.h"
#include "headpond/monitor/stalls/cold_files_internal.h"

namespace headpond::internal {
namespace {

namespace fs = std::filesystem;

void add_path(const std::string& path, std::set<std::string>& files) {
  constexpr auto kOptions =
      fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
  std::error_code problem;
  if (!fs::is_directory(path, problem)) {
    files.insert(path);
    return;
  }
  for (fs::recursive_directory_iterator entry(path, kOptions, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code unreadable;
    if (entry->is_regular_file(unreadable)) files.insert(entry->path().string());
  }
}

}  // namespace

std::set<std::string> files_of(const Dataset& dataset) {
  std::set<std::string> files;
  for (const Node* const node : nodes_of(*dataset.node())) {
    const auto* const source = dynamic_cast<const FileReading*>(node);
    if (source == nullptr) continue;
    for (const std::string& path : source->paths_read()) add_path(path, files);
  }
  return files;
}

void make_cold(const std::set<std::string>& paths) {
  for (const std::string& path : paths) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

}  // namespace headpond::internal
