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

using Quota = double (*)(const std::filesystem::path& group);  // in processors; 0 is none

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

std::optional<double> least_on_the_way(const std::filesystem::path& mount, std::filesystem::path group, Quota quota) {
  std::optional<double> least;
  for (;; group = group.parent_path()) {
    if (const double found = quota(mount / group); found > 0) least = std::min(found, least.value_or(HUGE_VAL));
    if (group.empty()) return least;
  }
}

}  // namespace

namespace cpu_internal {

std::optional<double> cgroup_quota(const std::filesystem::path& mount, std::string_view proc_self_cgroup) {
  std::istringstream lines{std::string(proc_self_cgroup)};
  std::optional<double> least;
  for (std::string line; std::getline(lines, line);) {
    const size_t controllers = line.find(':') + 1;
    const size_t path = line.find(":/", controllers);
    if (path == std::string::npos) continue;
    const std::string list = "," + line.substr(controllers, path - controllers) + ",";
    if (list != ",," && list.find(",cpu,") == std::string::npos) continue;
    const auto quota = list == ",," ? least_on_the_way(mount, line.substr(path + 2), quota_v2)
                                    : least_on_the_way(mount / "cpu", line.substr(path + 2), quota_v1);
    if (quota) least = std::min(*quota, least.value_or(HUGE_VAL));
  }
  return least;
}

// "cpu user nice system idle iowait irq softirq steal guest guest_nice"; the guests are part of user and nice.
CpuSample parse_stat(std::string_view proc_stat, double ticks_per_second) {
  std::istringstream text{std::string(proc_stat)};
  std::string name;
  std::array<double, 8> ticks{};
  text >> name;
  for (double& tick : ticks) text >> tick;
  CpuSample sample;
  if (name != "cpu" || !text) return sample;
  sample.all_s = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / ticks_per_second;
  sample.stolen_s = ticks[7] / ticks_per_second;
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
  const auto quota = cpu_internal::cgroup_quota("/sys/fs/cgroup", read_text("/proc/self/cgroup"));
  return quota && *quota < allowed ? std::max(1, static_cast<int>(std::ceil(*quota))) : allowed;
}

bool pin_this_thread(std::span<const int> cpus) {
  if (cpus.empty() || std::ranges::min(cpus) < 0 || std::ranges::max(cpus) >= 1 << 20) return false;
  const CpuSet set(std::ranges::max(cpus) + 1);
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), set.size(), set.get());
  return sched_setaffinity(0, set.size(), set.get()) == 0;
}

CpuSample sample_cpu() {
  CpuSample sample = cpu_internal::parse_stat(read_text("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)));
  sample.own_s = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
  sample.wall_ns = now_ns();
  return sample;
}

double other_cores(const CpuSample& from, const CpuSample& to) {
  const double others = (to.all_s - from.all_s) - (to.own_s - from.own_s);
  return std::max(0.0, others / (static_cast<double>(to.wall_ns - from.wall_ns) * 1e-9));
}

MemoryInfo memory_info() { return cpu_internal::parse_smaps_rollup(read_text("/proc/self/smaps_rollup")); }

}  // namespace headpond
