// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/thread_use.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace headpond::internal {
namespace {

namespace fs = std::filesystem;

// The field after `before` more, of fields that are parted by a blank.
std::optional<int64_t> field(std::string_view text, int before) {
  for (int i = 0; i < before; ++i) {
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    text.remove_prefix(blank + 1);
  }
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::string without_number(std::string name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  return name;
}

}  // namespace

// "12 (a name) S ...": the name may have brackets and blanks of its own. The fields after it are numbered from 3 on:
// 12 is the major faults, 14 and 15 the ticks in the program and in the system.
std::optional<ThreadStat> thread_stat_of(std::string_view line, double tick_s) {
  constexpr int kFirst = 3, kFaults = 12, kUser = 14, kSystem = 15;
  const size_t begin = line.find('('), end = line.rfind(") ");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  const std::string_view rest = line.substr(end + 2);
  const auto faults = field(rest, kFaults - kFirst), user = field(rest, kUser - kFirst),
             system = field(rest, kSystem - kFirst);
  if (!faults || !user || !system) return std::nullopt;
  return ThreadStat{.name = std::string(line.substr(begin + 1, end - begin - 1)),
                    .cpu_s = static_cast<double>(*user + *system) * tick_s,
                    .major_faults = *faults};
}

void ThreadUses::look() {
  const double tick_s = 1 / static_cast<double>(std::max(sysconf(_SC_CLK_TCK), 1L));
  for (auto& [name, use] : uses_) use.threads = 0;
  std::set<int> there;
  std::error_code ignored;
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;  // It ended meanwhile.
    const auto id = field(line, 0);
    const auto now = thread_stat_of(line, tick_s);
    if (!id || !now) continue;
    there.insert(static_cast<int>(*id));
    add(static_cast<int>(*id), *now);
  }
  std::erase_if(seen_, [&](const auto& one) { return !there.contains(one.first); });
  has_looked_ = true;
}

// A number may be that of a thread that ended; the new one has taken less. What a thread took before the first look is
// not of this run.
void ThreadUses::add(int thread_id, const ThreadStat& now) {
  const auto [before, is_new] = seen_.try_emplace(thread_id, has_looked_ ? ThreadStat() : now);
  if (now.cpu_s < before->second.cpu_s || now.major_faults < before->second.major_faults) before->second = {};
  const std::string name = without_number(now.name);
  ThreadUse& use = uses_[name];
  use.name = name;
  ++use.threads;
  use.cpu_s += now.cpu_s - before->second.cpu_s;
  use.major_faults += now.major_faults - before->second.major_faults;
  before->second = now;
}

std::vector<ThreadUse> ThreadUses::uses() const {
  std::vector<ThreadUse> all;
  all.reserve(uses_.size());
  for (const auto& [name, use] : uses_) all.push_back(use);
  std::stable_sort(all.begin(), all.end(), [](const ThreadUse& a, const ThreadUse& b) { return a.cpu_s > b.cpu_s; });
  return all;
}

}  // namespace headpond::internal
