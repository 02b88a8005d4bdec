// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_inputs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>

#include "headpond/base/crc32c.h"
#include "headpond/engine/shards.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/labelled_folder.h"

namespace headpond::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNsPerSecond = 1'000'000'000;

int64_t changed_ns(const std::string& path) {
  std::error_code none;
  const auto time = std::filesystem::last_write_time(path, none);
  if (none) return 0;
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

std::string shown(int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / kNsPerSecond);
  return fmt::format("{:%F %T}.{:09} UTC", fmt::gmtime(seconds), ns % kNsPerSecond);
}

// Links followed, as far as it is there.
fs::path true_path(const fs::path& path) {
  std::error_code none;
  fs::path found = fs::weakly_canonical(fs::absolute(path, none), none);
  return found.has_filename() ? found : found.parent_path();
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

std::vector<std::string> input_files(const std::string& from, const std::vector<std::string>& words) {
  if (from != "folder") return expand_files(words).value_or(std::vector<std::string>());
  std::vector<std::string> paths;
  if (const auto found = list_labelled_folder(words[0])) {
    for (const LabelledFile& file : found->files) paths.push_back(file.path);
  }
  return paths;
}

std::string inputs_line(const std::vector<std::string>& paths) {
  uint64_t bytes = 0;
  uint32_t all = 0;
  int64_t newest_ns = -1;
  std::string newest;
  for (const std::string& path : paths) {
    std::error_code none;
    const auto found = std::filesystem::file_size(path, none);
    const uint64_t size = none ? 0 : found;
    const int64_t ns = changed_ns(path);
    const std::string facts = fmt::format("{}\n{} {}\n", path, size, ns);
    all = crc32c_extend(all, std::as_bytes(std::span(facts)));
    bytes += size;
    if (ns <= newest_ns) continue;
    newest_ns = ns;
    newest = path;
  }
  std::string line = fmt::format("inputs: {} files, {} bytes, all={:08x}", paths.size(), bytes, all);
  if (!newest.empty()) line += fmt::format(", changed last: {} at {}", newest, shown(newest_ns));
  for (char& c : line) c = c == '\n' ? ' ' : c;
  return line;
}

std::string output_refusal(const std::string& from, const std::vector<std::string>& words,
                           const std::vector<std::string>& paths, const std::string& out, const std::string& name) {
  const fs::path folder = true_path(out);
  if (from == "folder" && is_below(folder, true_path(words[0]))) {
    return fmt::format("--out {} is in {}, so the next run would read what this one writes: choose another folder", out,
                       words[0]);
  }
  const fs::path plan = folder / shards_plan_name(name);
  const auto is_output = [&](const fs::path& file) {
    const std::string own = file.filename().string();
    return (own.starts_with(name + "-") || own == shards_plan_name(name)) && true_path(file.parent_path()) == folder;
  };
  for (const std::string& path : paths) {
    std::error_code none;
    if (!is_output(fs::absolute(path, none)) && !is_output(true_path(path)) && true_path(plan) != true_path(path))
      continue;
    return fmt::format("the input {} would be replaced by what is written: choose another --out or --name", path);
  }
  return "";
}

}  // namespace headpond::cli
