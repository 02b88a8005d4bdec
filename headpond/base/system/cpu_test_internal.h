// SPDX-License-Identifier: Apache-2.0
// For tests of what heeds the quota of the process's control group.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "headpond/base/cpu_internal.h"

namespace headpond::cpu_internal {

enum class CgroupVersion { v1, v2 };

/// While this lives the process is in the topmost control group, which has this quota: 150,000 of 100,000 us are 1.5
/// processors. No other thread asks meanwhile.
class CpuQuota {
 public:
  CpuQuota(const std::filesystem::path& folder, CgroupVersion version, int64_t quota_us, int64_t period_us) {
    if (version == CgroupVersion::v2) {
      std::ofstream(folder / "cpu.max") << quota_us << " " << period_us << "\n";
    } else {
      std::filesystem::create_directory(folder / "cpu");
      std::ofstream(folder / "cpu" / "cpu.cfs_quota_us") << quota_us << "\n";
      std::ofstream(folder / "cpu" / "cpu.cfs_period_us") << period_us << "\n";
    }
    std::ofstream(folder / "self") << (version == CgroupVersion::v2 ? "0::/\n" : "4:cpu,cpuacct:/\n");
    mount_ = std::exchange(cgroup_mount(), folder);
    self_ = std::exchange(proc_self_cgroup(), folder / "self");
  }
  ~CpuQuota() {
    cgroup_mount() = mount_;
    proc_self_cgroup() = self_;
  }
  CpuQuota(const CpuQuota&) = delete;
  CpuQuota& operator=(const CpuQuota&) = delete;

 private:
  std::filesystem::path mount_, self_;
};

}  // namespace headpond::cpu_internal
