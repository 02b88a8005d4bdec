// SPDX-License-Identifier: Apache-2.0
// Which files a source reads. For programs that look at pipelines, and for authors of sources.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headpond {

/// A second base of a Node that reads files while it runs, or whose elements are their paths.
class FileReading {
 public:
  virtual ~FileReading() = default;
  /// Their paths; a folder stands for all in it. May throw Exception, as Node::slots().
  virtual std::vector<std::string> paths_read() const = 0;
  /// How many files it reads; 0: not known, as for a folder. May throw as paths_read().
  virtual size_t file_count() const { return 0; }
  /// False: it reads names and sizes only.
  virtual bool reads_contents() const { return true; }
};

namespace internal {

template <class Files>
std::vector<std::string> paths_of(const Files& files) {
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const auto& file : files) paths.push_back(file.path);
  return paths;
}

}  // namespace internal
}  // namespace headpond
