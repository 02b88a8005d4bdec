// SPDX-License-Identifier: Apache-2.0
// The parsers that cpu.h uses, for tests with made-up texts and folders.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "headpond/base/cpu.h"

namespace headpond::cpu_internal {

/// The smallest CPU quota, in processors, among the groups that `proc_self_cgroup` names (cgroup v2, and the cpu
/// controller of v1) and their ancestors; nullopt iff none has a quota. `mount` stands for /sys/fs/cgroup.
std::optional<double> cgroup_quota(const std::filesystem::path& mount, std::string_view proc_self_cgroup);

/// The smallest limit of memory, in bytes, among the groups of `proc_self_cgroup` (cgroup v2, and the memory controller
/// of v1) and their ancestors; nullopt iff none has a limit.
std::optional<uint64_t> cgroup_memory(const std::filesystem::path& mount, std::string_view proc_self_cgroup);

/// The mount that cpu_count(), sample_cpu() and usable_memory() look into. Tests put another one in its place, while no
/// other thread asks.
std::filesystem::path& cgroup_mount();
/// The same of the file that names the groups of the process.
std::filesystem::path& proc_self_cgroup();

/// For how many processor seconds the groups of cgroup_quota() were stopped: the most that one of them was.
double cgroup_throttled_s(const std::filesystem::path& mount, std::string_view proc_self_cgroup);

/// all_s and stolen_s from a text such as /proc/stat: of the machine or, if some are given, of these processors.
CpuSample parse_stat(std::string_view proc_stat, double ticks_per_second, std::span<const int> cpus = {});

/// From a text such as /proc/self/smaps_rollup.
MemoryInfo parse_smaps_rollup(std::string_view text);

}  // namespace headpond::cpu_internal
