// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/run_outputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "headpond/dataset/node.h"
#include "headpond/dataset/source/files_read.h"

namespace headpond::cli {
namespace {

namespace fs = std::filesystem;

bool is_same(const std::string& a, const std::string& b) {
  std::error_code problem;
  if (fs::equivalent(a, b, problem)) return true;
  const fs::path one = fs::weakly_canonical(fs::absolute(a), problem);
  const fs::path other = fs::weakly_canonical(fs::absolute(b), problem);
  return !problem && one == other;
}

// A folder stands for all in it.
bool is_in(const std::string& file, const std::string& path) {
  std::error_code problem;
  if (!fs::is_directory(path, problem)) return fs::equivalent(file, path, problem);
  const std::string inside = fs::canonical(path, problem).string() + "/";
  return !problem && fs::canonical(file, problem).string().starts_with(inside);
}

Result<void> refuse_output(const NamedFile& output, const std::string& what) {
  return fail(ErrorKind::InvalidArgument, fmt::format("{} {}: {}", output.option, output.path, what));
}

}  // namespace

Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs,
                           const Dataset& dataset) {
  std::vector<NamedFile> there;  // Those that would be replaced.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path.empty()) continue;
    for (size_t k = 0; k < i; ++k) {
      if (!outputs[k].path.empty() && is_same(output.path, outputs[k].path))
        return refuse_output(output, fmt::format("{} writes the same file", outputs[k].option));
    }
    std::error_code problem;
    if (!fs::is_regular_file(output.path, problem)) continue;
    for (const NamedFile& input : inputs) {
      if (!input.path.empty() && input.option != output.may_replace && is_same(output.path, input.path))
        return refuse_output(output, fmt::format("it would replace {}", input.option));
    }
    there.push_back(output);
  }
  if (there.empty()) return {};
  for (const Node* const node : nodes_of(*dataset.node())) {
    const auto* const source = dynamic_cast<const FileReading*>(node);
    if (source == nullptr) continue;
    for (const std::string& path : source->paths_read()) {
      for (const NamedFile& output : there) {
        if (is_in(output.path, path))
          return refuse_output(output, fmt::format("it would replace what {} reads", node->title()));
      }
    }
  }
  return {};
}

}  // namespace headpond::cli
