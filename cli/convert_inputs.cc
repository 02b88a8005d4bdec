// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_inputs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>

#include "headpond/base/crc32c.h"
#include "headpond/io/glob.h"
#include "headpond/io/labelled_folder.h"

namespace headpond::cli {
namespace {

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

}  // namespace headpond::cli
