// SPDX-License-Identifier: Apache-2.0
// Which CPUs a thread runs on. The trainer stands for a device, so producers must not use its cores.
#pragma once

#include <vector>

#include "headpond/base/cpu.h"

namespace headpond {

/// Restricts the calling thread to `cpus` during a scope. Threads that it starts inherit that for good. CPUs that the
/// system refuses change nothing. REQUIRES: constructed and destroyed by the same thread.
class PinnedScope {
 public:
  explicit PinnedScope(const std::vector<int>& cpus) : before_(allowed_cpus()) { (void)pin_this_thread(cpus); }
  ~PinnedScope() { (void)pin_this_thread(before_); }
  PinnedScope(const PinnedScope&) = delete;
  PinnedScope& operator=(const PinnedScope&) = delete;

 private:
  const std::vector<int> before_;
};

/// Divides `all`: the trainer gets the first `trainer` CPUs, the producers get the rest, or all if there is no rest.
struct CpuShares {
  std::vector<int> trainer;
  std::vector<int> producers;
};
CpuShares share_cpus(const std::vector<int>& all, int trainer);

}  // namespace headpond
