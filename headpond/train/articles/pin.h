// SPDX-License-Identifier: Apache-2.0
// Which CPUs a thread runs on. The trainer stands for a device with cores of its own, so producers must stay off them.
#pragma once

#include <vector>

#include "headpond/base/cpu.h"

namespace headpond {

/// Lets the calling thread run on `cpus` only, and the threads that it starts, until the end of a scope (which they
/// stay on). CPUs that the system refuses change nothing. REQUIRES: destroyed by the thread that made it.
class PinnedScope {
 public:
  explicit PinnedScope(const std::vector<int>& cpus) : before_(allowed_cpus()) { (void)pin_this_thread(cpus); }
  ~PinnedScope() { (void)pin_this_thread(before_); }
  PinnedScope(const PinnedScope&) = delete;
  PinnedScope& operator=(const PinnedScope&) = delete;

 private:
  const std::vector<int> before_;
};

/// `all` divided between a trainer, which gets the first `trainer` of them, and its producers, which get the rest, or
/// all if there is no rest.
struct CpuShares {
  std::vector<int> trainer;
  std::vector<int> producers;
};
CpuShares share_cpus(const std::vector<int>& all, int trainer);

}  // namespace headpond
