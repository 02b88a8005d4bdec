// SPDX-License-Identifier: Apache-2.0
// The processors and the memory of the machine: what this process may use, and what it and others do use. Linux only;
// every function is thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headpond {

/// The instruction set that this build's vector code uses on this machine: "AVX3" (AVX-512), "AVX2", "SSE4", ..., or
/// "scalar".
std::string simd_target();

/// The processors that the calling thread may run on, ascending; never empty.
std::vector<int> allowed_cpus();

/// The number of threads that can run at once: the size of allowed_cpus() or, if lower, the CPU quota of the control
/// group (the smallest among its ancestors; cgroup v2 and v1), rounded up. At least 1.
int cpu_count();

/// Restricts the calling thread to these processors; threads that it starts afterwards inherit the restriction. False,
/// with nothing changed, iff the system refuses (no such processor, or none given).
bool pin_this_thread(std::span<const int> cpus);

/// Processor time used so far, by the whole machine and by this process.
struct CpuSample {
  int64_t wall_ns = 0;     ///< now_ns() of the sample.
  double all_s = 0;        ///< By all processes of the machine, in steps of 10 ms a processor.
  double stolen_s = 0;     ///< Taken from this machine by its host, if it is a virtual one.
  double own_s = 0;        ///< By this process and the children it has waited for.
  double throttled_s = 0;  ///< Time in which this process's control group was stopped for having used its quota.
};

CpuSample sample_cpu();
/// The same, with all_s and stolen_s of these processors only.
CpuSample sample_cpu_of(std::span<const int> cpus);

/// The number of processors' time that other processes used between two samples: 0.02 is 2 % of one processor. Never
/// negative. Over an interval of a second the error is about 0.01. REQUIRES: `to` was taken after `from`.
double other_cores(const CpuSample& from, const CpuSample& to);

/// Memory of this process in bytes; 0 where the system does not report it.
struct MemoryInfo {
  uint64_t rss = 0;       ///< Resident set: pages in memory, shared ones included.
  uint64_t pss = 0;       ///< Proportional set: each shared page divided by the number of its users.
  uint64_t pss_file = 0;  ///< Pages of files in pss, those of programs and libraries included.
};

/// Takes about a millisecond per gigabyte in use.
MemoryInfo memory_info();

/// Bytes that this process may use: the machine's memory or, if lower, the limit of the control group (the smallest
/// among its ancestors; cgroup v2 and v1).
uint64_t usable_memory();

}  // namespace headpond
