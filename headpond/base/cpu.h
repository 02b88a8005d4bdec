// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine, and what it and others do use. Linux only; every function is thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headpond {

/// The instruction set that the vector code of this build uses on this machine: "AVX3" (AVX-512), "AVX2", "SSE4", ...,
/// or "scalar".
std::string simd_target();

/// The processors that the calling thread may run on, ascending; never empty.
std::vector<int> allowed_cpus();

/// How many threads can run at once: the size of allowed_cpus(), or the CPU quota of the control group (the
/// smallest on the way up; cgroup v2 and v1), rounded up, if that is less. At least 1.
int cpu_count();

/// Lets the calling thread run on these processors only; threads that it starts afterwards inherit that. False, with
/// nothing changed, iff the system refuses (no such processor, or none given).
bool pin_this_thread(std::span<const int> cpus);

/// Clocks of the processor time used so far, by everybody and by this process.
struct CpuSample {
  int64_t wall_ns = 0;  ///< now_ns() of the sample.
  double all_s = 0;     ///< By everything on the machine; known in steps of 10 ms a processor.
  double stolen_s = 0;  ///< Kept from this machine by its host, if it is a virtual one.
  double own_s = 0;     ///< By this process and the children it has waited for.
};

CpuSample sample_cpu();

/// Processors' worth that other processes used between two samples: 0.02 is 2 % of one processor. Never negative. An
/// interval of a second is right to about 0.01 a processor. REQUIRES: `to` was taken later.
double other_cores(const CpuSample& from, const CpuSample& to);

/// Memory of this process in bytes; 0 where the system does not tell.
struct MemoryInfo {
  uint64_t rss = 0;  ///< Resident: pages in memory, shared ones included.
  uint64_t pss = 0;  ///< Proportional: each shared page divided by the number of its users.
};

/// Takes about a millisecond for each gigabyte in use.
MemoryInfo memory_info();

}  // namespace headpond
