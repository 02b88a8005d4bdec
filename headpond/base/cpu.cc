// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/cpu.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "headpond/base/clock.h"
#include "headpond/base/cpu_internal.h"
#include "headpond/base/normal.h"

namespace headpond {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// A set of processors with room for `capacity` numbers.
class CpuSet {
 public:
  explicit CpuSet(int capacity)
      : size_(CPU_ALLOC_SIZE(static_cast<size_t>(capacity))), set_(CPU_ALLOC(static_cast<size_t>(capacity))) {
    CPU_ZERO_S(size_, set_.get());
  }
  size_t size() const { return size_; }
  cpu_set_t* get() const { return set_.get(); }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  size_t size_;
  std::unique_ptr<cpu_set_t, Free> set_;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double used_by(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double quota_v2(const std::filesystem::path& group) {
  std::istringstream text(read_text(group / "cpu.max"));  // "max 100000" or "150000 100000"
  double quota = 0;
  double period = 0;
  return text >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double quota_v1(const std::filesystem::path& group) {
  std::istringstream text(read_text(group / "cpu.cfs_quota_us") + read_text(group / "cpu.cfs_period_us"));
  double quota = 0;  // -1: none.
  double period = 0;
  return text >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// "throttled_usec 12000" (v2) or "throttled_time 12000000" (v1), among others.
double throttled_s(const std::filesystem::path& group) {
  std::istringstream text(read_text(group / "cpu.stat"));
  std::string name;
  for (double number = 0; text >> name >> number;) {
    if (name == "throttled_usec") return 1e-6 * number;
    if (name == "throttled_time") return 1e-9 * number;
  }
  return 0;
}

// Calls `each` with the folders of the groups that `proc_self_cgroup` names and of their ancestors, and whether they
// are of v2; of v1, with those of this controller only.
template <class Each>
void for_each_group(const std::filesystem::path& mount, std::string_view proc_self_cgroup,
                    const std::string& controller, Each each) {
  std::istringstream lines{std::string(proc_self_cgroup)};
  for (std::string line; std::getline(lines, line);) {
    const size_t controllers = line.find(':') + 1;
    const size_t path = line.find(":/", controllers);
    if (path == std::string::npos) continue;
    const std::string list = "," + line.substr(controllers, path - controllers) + ",";
    const bool is_v2 = list == ",,";
    if (!is_v2 && list.find("," + controller + ",") == std::string::npos) continue;
    for (std::filesystem::path group = line.substr(path + 2);; group = group.parent_path()) {
      each((is_v2 ? mount : mount / controller) / group, is_v2);
      if (group.empty()) break;
    }
  }
}

}  // namespace

namespace cpu_internal {

std::filesystem::path& cgroup_mount() {
  static auto* const mount = new std::filesystem::path("/sys/fs/cgroup");  // Never destroyed, as threads may ask.
  return *mount;
}

std::filesystem::path& proc_self_cgroup() {
  static auto* const file = new std::filesystem::path("/proc/self/cgroup");  // Never destroyed either.
  return *file;
}

std::optional<double> cgroup_quota(const std::filesystem::path& mount, std::string_view proc_self_cgroup) {
  std::optional<double> least;
  for_each_group(mount, proc_self_cgroup, "cpu", [&](const std::filesystem::path& group, bool is_v2) {
    const double quota = is_v2 ? quota_v2(group) : quota_v1(group);
    if (quota > 0) least = std::min(quota, least.value_or(HUGE_VAL));
  });
  return least;
}

std::optional<uint64_t> cgroup_memory(const std::filesystem::path& mount, std::string_view proc_self_cgroup) {
  std::optional<uint64_t> least;
  for_each_group(mount, proc_self_cgroup, "memory", [&](const std::filesystem::path& group, bool is_v2) {
    std::istringstream text(read_text(group / (is_v2 ? "memory.max" : "memory.limit_in_bytes")));
    if (uint64_t limit = 0; text >> limit) least = std::min(limit, least.value_or(UINT64_MAX));  // "max": none.
  });
  return least;
}

double cgroup_throttled_s(const std::filesystem::path& mount, std::string_view proc_self_cgroup) {
  double most = 0;
  for_each_group(mount, proc_self_cgroup, "cpu",
                 [&](const std::filesystem::path& group, bool) { most = std::max(most, throttled_s(group)); });
  return most;
}

// "cpu user nice system idle iowait irq softirq steal guest guest_nice", then the same for each "cpu0"; the guests are
// part of user and nice.
CpuSample parse_stat(std::string_view proc_stat, double ticks_per_second, std::span<const int> cpus) {
  std::istringstream lines{std::string(proc_stat)};
  CpuSample sample;
  for (std::string line; std::getline(lines, line) && line.starts_with("cpu");) {
    std::istringstream text(line);
    std::string name;
    std::array<double, 8> ticks{};
    text >> name;
    for (double& tick : ticks) text >> tick;
    const auto is_named = [&](int cpu) { return name == "cpu" + std::to_string(cpu); };
    if (!text || !(cpus.empty() ? name == "cpu" : std::ranges::any_of(cpus, is_named))) continue;
    sample.all_s += (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / ticks_per_second;
    sample.stolen_s += ticks[7] / ticks_per_second;
  }
  return sample;
}

MemoryInfo parse_smaps_rollup(std::string_view text) {
  std::istringstream lines{std::string(text)};
  MemoryInfo info;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t kib = 0;
    if (!(words >> name >> kib)) continue;
    if (name == "Rss:") info.rss = kib * 1024;
    if (name == "Pss:") info.pss = kib * 1024;
    if (name == "Pss_File:") info.pss_file = kib * 1024;
  }
  return info;
}

}  // namespace cpu_internal

std::string simd_target() {
  const auto targets = normal_targets();
  return targets.empty() ? "scalar" : std::string(targets.front());
}

// The kernel refuses a set smaller than its own, whose size it does not report.
std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    const CpuSet set(capacity);
    if (sched_getaffinity(0, set.size(), set.get()) != 0) continue;
    for (int cpu = 0; cpu < capacity; ++cpu)
      if (CPU_ISSET_S(static_cast<size_t>(cpu), set.size(), set.get())) cpus.push_back(cpu);
    break;
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int cpu_count() {
  const auto allowed = static_cast<int>(allowed_cpus().size());
  const auto quota =
      cpu_internal::cgroup_quota(cpu_internal::cgroup_mount(), read_text(cpu_internal::proc_self_cgroup()));
  return quota && *quota < allowed ? std::max(1, static_cast<int>(std::ceil(*quota))) : allowed;
}

bool pin_this_thread(std::span<const int> cpus) {
  if (cpus.empty() || std::ranges::min(cpus) < 0 || std::ranges::max(cpus) >= 1 << 20) return false;
  const CpuSet set(std::ranges::max(cpus) + 1);
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), set.size(), set.get());
  return sched_setaffinity(0, set.size(), set.get()) == 0;
}

CpuSample sample_cpu() { return sample_cpu_of({}); }

CpuSample sample_cpu_of(std::span<const int> cpus) {
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  CpuSample sample = cpu_internal::parse_stat(read_text("/proc/stat"), ticks_per_second, cpus);
  sample.throttled_s =
      cpu_internal::cgroup_throttled_s(cpu_internal::cgroup_mount(), read_text(cpu_internal::proc_self_cgroup()));
  sample.own_s = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
  sample.wall_ns = now_ns();
  return sample;
}

double other_cores(const CpuSample& from, const CpuSample& to) {
  const double others = (to.all_s - from.all_s) - (to.own_s - from.own_s);
  return std::max(0.0, others / (static_cast<double>(to.wall_ns - from.wall_ns) * 1e-9));
}

MemoryInfo memory_info() { return cpu_internal::parse_smaps_rollup(read_text("/proc/self/smaps_rollup")); }

uint64_t usable_memory() {
  const auto machine = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto limit =
      cpu_internal::cgroup_memory(cpu_internal::cgroup_mount(), read_text(cpu_internal::proc_self_cgroup()));
  return std::min(machine, limit.value_or(machine));
}

}  // namespace headpond
