// SPDX-License-Identifier: Apache-2.0
// For tests of what heeds the quota of the process's control group.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "headpond/base/cpu_internal.h"

namespace headpond::cpu_internal {

/// While this lives cpu_count() finds this text in cpu.max of the topmost control group: "150000 100000" are 1.5
/// processors. No other thread asks meanwhile.
class CpuQuota {
 public:
  CpuQuota(const std::string& folder, const std::string& cpu_max) {
    std::ofstream(folder + "/cpu.max") << cpu_max << "\n";
    before_ = std::exchange(cgroup_mount(), std::filesystem::path(folder));
  }
  ~CpuQuota() { cgroup_mount() = before_; }
  CpuQuota(const CpuQuota&) = delete;
  CpuQuota& operator=(const CpuQuota&) = delete;

 private:
  std::filesystem::path before_;
};

}  // namespace headpond::cpu_internal
