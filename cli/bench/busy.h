// SPDX-License-Identifier: Apache-2.0
// Spins for a given CPU time of the thread: time that other processes take is not counted as work. It computes between
// looks at that clock, each of which is a call of the system.
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
  for (double left = us; left > 0; left = end - thread_cpu_us()) {
    const int turns = left > 20 ? 5'000 : 0;  // A few us.
    for (int i = 0; i < turns; ++i) asm volatile("");
  }
}

}  // namespace headpond::cli
