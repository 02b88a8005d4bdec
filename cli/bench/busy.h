// SPDX-License-Identifier: Apache-2.0
// Spins for a given CPU time of the thread: time that other processes take is not counted as work.
#pragma once

#include <time.h>

namespace headpond::cli {

inline double thread_cpu_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

inline void compute_us(double us) {
  const double end = thread_cpu_us() + us;
  while (thread_cpu_us() < end) {
  }
}

}  // namespace headpond::cli
