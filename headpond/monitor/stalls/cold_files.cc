// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "headpond/io/file/glob.h"
#include "headpond/monitor/stalls/cold_files_internal.h"

namespace headpond::internal {
namespace {

// Between quotes.
void add_files(const Node& node, SourceFiles& files) {
  for (const Node::Ref& input : node.facts().inputs) add_files(*input, files);
  const std::string& location = node.facts().location;
  if (!location.empty() && !location.ends_with('\'')) files.are_all = false;
  for (size_t from = location.find('\''); from != std::string::npos;) {
    const size_t to = location.find('\'', from + 1);
    if (to == std::string::npos) return;
    if (const auto found = expand_files(location.substr(from + 1, to - from - 1)))
      files.paths.insert(found->begin(), found->end());
    from = location.find('\'', to + 1);
  }
}

}  // namespace

SourceFiles files_of(const Dataset& dataset) {
  SourceFiles files;
  add_files(*dataset.node(), files);
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
