// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/pin.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>

namespace headpond {

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin_this_thread(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  }
  (void)sched_setaffinity(0, sizeof(set), &set);  // Refused iff no CPU is left.
}

CpuShares share_cpus(const std::vector<int>& all, int trainer) {
  const auto first =
      static_cast<std::ptrdiff_t>(std::clamp<size_t>(static_cast<size_t>(std::max(trainer, 1)), 0, all.size()));
  CpuShares shares{{all.begin(), all.begin() + first}, {all.begin() + first, all.end()}};
  if (shares.producers.empty()) shares.producers = all;
  return shares;
}

}  // namespace headpond
