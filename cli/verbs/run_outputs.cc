// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/run_outputs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include "headpond/dataset/node.h"
#include "headpond/dataset/source/files_read.h"

namespace headpond::cli {
namespace {

namespace fs = std::filesystem;

struct stat facts_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) facts.st_mode = 0;
  return facts;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return std::tie(a.st_dev, a.st_ino) == std::tie(b.st_dev, b.st_ino);
}

std::string canonical(const std::string& path) {
  std::error_code problem;
  return fs::weakly_canonical(fs::absolute(path), problem).string();
}

struct Output {
  const NamedFile* named;
  std::string path;   // Canonical.
  struct stat facts;  // st_mode 0: it does not exist.

  bool is_file() const { return S_ISREG(facts.st_mode); }
  bool is_same(const std::string& other) const {
    const struct stat theirs = facts_of(other);
    if (facts.st_mode != 0 && theirs.st_mode != 0) return is_file() && is_same_file(facts, theirs);
    return facts.st_mode == theirs.st_mode && path == canonical(other);
  }
  // Of a file that a source reads; a folder stands for what is in its sub-folders.
  bool is_read_at(const std::string& read, const struct stat& theirs) const {
    if (!S_ISDIR(theirs.st_mode)) return is_same_file(facts, theirs);
    const std::string inside = canonical(read) + "/";
    return path.starts_with(inside) && path.find('/', inside.size()) != std::string::npos;
  }
};

tl::unexpected<Error> refuse_output(const NamedFile& output, const std::string& what) {
  return fail(ErrorKind::InvalidArgument, fmt::format("{} {}: {}", output.option, output.path, what));
}

}  // namespace

Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs,
                           const Dataset& dataset) {
  std::vector<Output> all;
  for (const NamedFile& named : outputs) {
    if (named.path.empty()) continue;
    const Output output{&named, canonical(named.path), facts_of(named.path)};
    for (const Output& other : all) {
      if (output.is_same(other.named->path))
        return refuse_output(named, fmt::format("{} writes the same file", other.named->option));
    }
    for (const NamedFile& input : inputs) {
      if (!input.path.empty() && input.option != named.may_replace && output.is_same(input.path))
        return refuse_output(named, fmt::format("that is {}", input.option));
    }
    all.push_back(output);
  }
  std::erase_if(all, [](const Output& output) { return !output.is_file(); });
  if (all.empty()) return {};
  for (const Node* const node : nodes_of(*dataset.node())) {
    const auto* const source = dynamic_cast<const FileReading*>(node);
    if (source == nullptr) continue;
    for (const std::string& path : source->paths_read()) {
      const struct stat facts = facts_of(path);
      for (const Output& output : all) {
        if (output.is_read_at(path, facts))
          return refuse_output(*output.named, fmt::format("{} reads that file", node->title()));
      }
    }
  }
  return {};
}

}  // namespace headpond::cli
